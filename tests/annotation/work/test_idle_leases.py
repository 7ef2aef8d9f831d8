"""Staff end the leases of people who never submitted, so that a script cannot hold the seats of a round."""

import pytest
from django.db import connection

from annotation.models import Admission, Assignment
from annotation.people.admission import join_round
from annotation.work.answers import save_draft
from annotation.work.leases import end_idle_leases, lease_seat
from annotation.work.submissions import submit_answers
from core.errors import CounterpartError
from core.models import Event
from hits.models import Round, Seat
from tests.annotation.answering import right_answers
from tests.at_once import at_once
from tests.factories import make_round, make_worker


@pytest.fixture
def made(db) -> Round:
    return make_round(hits=4)


def proven(made: Round):
    """A worker who has submitted in this round."""
    worker = make_worker()
    first = lease_seat(made, worker=worker)
    submit_answers(first, answers=right_answers(first), active_seconds=60)
    return worker


def end(made: Round, *, with_answers: bool = False) -> int:
    return end_idle_leases(made, with_answers=with_answers, actor="robin")


def states(*leases: Assignment) -> list[str]:
    for lease in leases:
        lease.refresh_from_db()
    return [lease.state for lease in leases]


def test_only_leases_of_workers_who_never_submitted_end(made):
    theirs = lease_seat(made, worker=proven(made))
    idle = lease_seat(made, worker=make_worker())
    elsewhere = lease_seat(make_round(made.pool.collection, "other"), worker=make_worker())
    assert end(made) == 1
    assert states(theirs, idle, elsewhere) == ["leased", "expired", "leased"]
    assert Seat.objects.get(pk=idle.seat_id).state == "open"
    assert Event.objects.get(verb="expired").actor == "robin"
    assert Event.objects.get(verb="ended idle leases").data == {"leases": 1, "places": 0}


def test_who_has_saved_answers_is_spared_unless_wanted(made):
    begun = lease_seat(made, worker=make_worker())
    save_draft(begun, right_answers(begun)[0])
    assert (end(made), states(begun)) == (0, ["leased"])
    assert (end(made, with_answers=True), states(begun)) == (1, ["expired"])


def test_answers_of_an_ended_lease_are_taken_while_the_seat_is_open(made):
    begun = lease_seat(made, worker=make_worker())
    end(made)
    begun.refresh_from_db()
    submit_answers(begun, answers=right_answers(begun), active_seconds=60)
    assert states(begun) == ["submitted"]


def test_the_places_of_idle_workers_are_free_again(made):
    Admission.objects.create(round=made, capacity=2)
    made.refresh_from_db()
    lease_seat(made, worker=make_worker())
    worker = proven(made)
    assert not join_round(made, make_worker())
    end(made)
    assert [one.worker for one in made.participants.all()] == [worker]
    assert join_round(made, make_worker())


def test_who_has_submitted_keeps_their_place_though_their_work_was_excluded(made):
    Admission.objects.create(round=made, capacity=1)
    made.refresh_from_db()
    worker = proven(made)
    Assignment.objects.update(state="excluded")
    end(made)
    assert [one.worker for one in made.participants.all()] == [worker]


@pytest.mark.service
def test_a_submission_at_the_same_moment_is_neither_lost_nor_given_away(transactional_db):
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has one writer at a time")
    made = make_round(hits=1)
    lease = lease_seat(made, worker=make_worker())
    answers = right_answers(lease)

    def submit() -> bool:
        try:
            submit_answers(Assignment.objects.get(pk=lease.pk), answers=answers, active_seconds=60)
        except CounterpartError:
            return False
        return True

    submitted, _ = at_once(submit, lambda: end(made, with_answers=True))
    assert submitted
    assert (states(lease)[0] in Assignment.SUBMITTED, lease.judgments.count()) == (True, 4)
    assert Seat.objects.get().state in ("taken", "filled")
