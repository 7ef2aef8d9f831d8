"""A round that a person pauses takes no visitor until it is resumed, whatever syncs and crashes come in between."""

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Assignment
from annotation.work.leases import lease_seat
from annotation.work.standing import forecast_of, standing_of
from annotation.work.submissions import submit_answers
from core.models import Event
from crowd.models import Outbox, Posting, Visit
from crowd.posting.pauses import pause_round, resume_round
from crowd.posting.publication import close_round
from hits.models import Round, Seat
from tests.annotation.answering import right_answers
from tests.crowd.platform import sync
from tests.crowd.prolific_rehearsal import published, rehearsal
from tests.factories import make_assignment, make_round, make_worker, put_on_platform

__all__ = ["rehearsal"]


@pytest.fixture
def on_prolific(rehearsal, commit):
    return published(hits=2, commit=commit)


def pause(made, commit) -> None:
    with commit(execute=True):
        pause_round(made, actor="robin")


def resume(made, commit) -> None:
    with commit(execute=True):
        resume_round(made, actor="robin")


def test_a_paused_round_takes_no_visitor_until_it_is_resumed(on_prolific, rehearsal, commit):
    pause(on_prolific, commit)
    sync(on_prolific, commit)
    assert rehearsal.study().status == "PAUSED"
    resume(on_prolific, commit)
    assert rehearsal.study().status == "ACTIVE"
    sync(on_prolific, commit)
    assert rehearsal.study().status == "ACTIVE"
    assert [event.verb for event in Event.objects.filter(verb__in=("paused", "resumed")).order_by("pk")] == [
        "paused",
        "resumed",
    ]


def test_whoever_has_a_session_goes_on_and_is_paid(on_prolific, rehearsal, commit):
    session, person, sheet = rehearsal.open()
    pause(on_prolific, commit)
    with commit(execute=True):
        rehearsal.complete(session, person, rehearsal.answer(session, person, sheet))
    sync(on_prolific, commit)
    assert (Visit.objects.get().state, rehearsal.study().status) == ("approved", "PAUSED")


def test_a_hit_that_becomes_free_does_not_end_the_pause_of_a_person(on_prolific, rehearsal, commit):
    Seat.objects.update(state="filled")
    sync(on_prolific, commit)
    assert rehearsal.study().status == "PAUSED"  # as no HIT is left
    pause(on_prolific, commit)
    Seat.objects.update(state="open")
    sync(on_prolific, commit)
    assert rehearsal.study().status == "PAUSED"
    resume(on_prolific, commit)
    assert rehearsal.study().status == "ACTIVE"


def test_a_round_without_a_hit_is_resumed_once_there_is_one(on_prolific, rehearsal, commit):
    pause(on_prolific, commit)
    Seat.objects.update(state="filled")
    resume(on_prolific, commit)
    sync(on_prolific, commit)
    assert rehearsal.study().status == "PAUSED"
    Seat.objects.update(state="open")
    sync(on_prolific, commit)
    assert rehearsal.study().status == "ACTIVE"


def test_a_call_that_waited_does_what_is_wanted_when_it_is_made(on_prolific, rehearsal, commit):
    pause_round(on_prolific, actor="robin")  # its call is not made yet
    Round.objects.update(paused_at=None)
    sync(on_prolific, commit)
    assert (rehearsal.study().status, Posting.objects.get().paused_at) == ("ACTIVE", None)


@pytest.mark.parametrize("kind", ["drop", "reset"])
def test_a_pause_whose_call_fails_is_made_by_a_sync(on_prolific, rehearsal, commit, kind):
    rehearsal.fault(operation="move_study", times=1, kind=kind)
    pause(on_prolific, commit)
    sync(on_prolific, commit)
    assert rehearsal.study().status == "PAUSED"
    assert not Outbox.objects.exclude(state="done").exists()


def test_a_paused_round_can_be_closed(on_prolific, rehearsal, commit):
    pause(on_prolific, commit)
    with commit(execute=True):
        close_round(on_prolific, actor="robin")
    assert rehearsal.study().status in ("COMPLETED", "AWAITING REVIEW")


def test_a_paused_round_of_the_browser_pool_takes_answers_and_leases_no_hit_until_it_is_resumed(db):
    made = make_round(hits=2)
    held = lease_seat(made, worker=make_worker())
    call_command("pause", made.name)
    assert lease_seat(made, worker=make_worker()) is None  # the object at hand is from before
    assert lease_seat(made, worker=held.worker) == held
    submit_answers(held, answers=right_answers(held), active_seconds=300)
    assert Assignment.objects.get().state == "submitted"
    call_command("pause", made.name, resume=True)
    assert lease_seat(made, worker=make_worker()) is not None
    assert not Outbox.objects.exists()


def test_a_paused_round_has_no_forecast_and_is_not_simulated(db):
    made = pause_round(make_round(hits=7), actor="robin")
    for _ in range(6):
        assignment = make_assignment(made.seats.filter(state="open").first())
        submit_answers(assignment, answers=right_answers(assignment), active_seconds=300)
    assert forecast_of(made, standing_of(made)) is None
    assert forecast_of(resume_round(made, actor="robin"), standing_of(made)) is not None
    pause_round(made, actor="robin")
    with pytest.raises(CommandError, match="is paused"):
        call_command("simulate", made.name)


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("state", ["draft", "closed", "on mturk"])
def test_rounds_that_give_out_no_hits_of_ours_are_refused_in_one_line(db, resume, state):
    made = make_round(published=state != "draft")
    if state == "on mturk":
        put_on_platform(made)
    if state == "closed":
        close_round(made, actor="robin")
    with pytest.raises(CommandError, match=state.removeprefix("on ")):
        call_command("pause", made.name, resume=resume)
    assert not Outbox.objects.filter(call="pause").exists()
