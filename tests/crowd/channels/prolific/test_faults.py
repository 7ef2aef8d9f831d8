"""Every call of a round that Prolific may lose, refuse, delay or answer late. After each: one study, every answer
stored once, everybody paid once, and books that agree with Prolific's."""

import pytest
from django.core.management import call_command

from annotation.models import Assignment, Payment
from annotation.people.workers import exclude, readmit
from annotation.review.decisions import decide
from crowd.channels.prolific import submissions
from crowd.models import Outbox, Posting
from crowd.posting.postings import post_open_seats
from hits.models import Seat
from tests.crowd.fakes import robin
from tests.crowd.platform import quiet_sync, sync
from tests.crowd.prolific_rehearsal import check_done, faults_of, published, work

pytestmark = pytest.mark.slow


HITS = 2
CALLS = [
    "create_study", "show_cost", "move_study", "move_submission", "list_studies", "list_submissions", "show_submission",
    "create_group",
]  # fmt: skip


@pytest.mark.parametrize("operation", CALLS)
def test_a_call_that_goes_wrong_in_every_way_changes_nothing_in_the_end(rehearsal, commit, operation):
    hits = 2 if "submission" in operation else 1
    faults = [fault for of, fault in faults_of(*CALLS) if of == operation]
    for declared in faults:
        rehearsal.fault(operation=operation, times=1, **declared)
    made = published(hits=hits, commit=commit)
    for _ in faults:
        if Posting.objects.get().state != "live":
            quiet_sync(made, commit)
    work(rehearsal, commit, hits)
    for _ in range(2 * len(faults)):
        if Payment.objects.filter(state="paid").count() < hits:
            quiet_sync(made, commit)
    quiet_sync(made, commit)
    assert all(one["happened"] for one in rehearsal.emulator.plan.as_json())
    check_done(made, rehearsal, hits=hits)


def reconcile() -> None:
    """Make the calls that are of no round, as the clock does."""
    for _ in range(5):
        Outbox.objects.update(due_at="2026-01-01T00:00Z")
        call_command("reconcile")


def test_an_exclusion_and_its_end_reach_prolific_whatever_goes_wrong(rehearsal, commit):
    made = published(hits=1, commit=commit)
    work(rehearsal, commit)
    sync(made, commit)
    worker, members = Assignment.objects.get().worker, lambda state: [*state.groups.values()][0].members
    person = worker.identities.get().external_id
    for operation, declared in faults_of("add_members", "remove_members"):
        rehearsal.fault(operation=operation, times=1, **declared)
    with commit(execute=True):
        exclude(worker, reason="Test.", by="robin")
    reconcile()
    assert [*rehearsal.world.look(members)] == [person]
    with commit(execute=True):
        readmit(worker, by="robin")
    reconcile()
    assert not rehearsal.world.look(members)
    assert all(one["happened"] for one in rehearsal.emulator.plan.as_json())


@pytest.mark.parametrize("status", [402, 423])
def test_an_approval_that_contends_with_others_is_asked_for_again(rehearsal, commit, status):
    made = published(hits=1, commit=commit)
    rehearsal.fault(kind="status", status=status, body="json", operation="move_submission", times=2)
    work(rehearsal, commit)
    for _ in range(4):
        quiet_sync(made, commit)
    check_done(made, rehearsal, hits=1)


def test_a_full_last_page_that_names_a_next_one_is_the_end(rehearsal, commit, monkeypatch):
    made = published(hits=4, commit=commit)
    work(rehearsal, commit, 4)
    monkeypatch.setattr(submissions, "PAGE", 2)
    rehearsal.fault(kind="next", operation="list_submissions")
    sync(made, commit)
    assert rehearsal.emulator.plan.as_json()[0]["happened"] > 1
    check_done(made, rehearsal, hits=4)


@pytest.mark.parametrize("by", [-1, 1])
def test_rows_that_move_between_two_pages_are_read_again(rehearsal, commit, monkeypatch, by):
    made = published(hits=3, commit=commit)
    work(rehearsal, commit, 3)
    monkeypatch.setattr(submissions, "PAGE", 2)
    rehearsal.fault(kind="shift", by=by, operation="list_submissions", times=2)
    for _ in range(3):
        quiet_sync(made, commit)
    check_done(made, rehearsal, hits=3)


@pytest.mark.parametrize("kind", [{"kind": "lag", "seconds": 60}, {"kind": "processing"}])
def test_readings_that_lag_behind_only_delay(rehearsal, commit, kind):
    made = published(hits=HITS, commit=commit)
    work(rehearsal, commit, HITS)
    rehearsal.fault(times=3, **kind)
    for _ in range(5):
        quiet_sync(made, commit)
        rehearsal.later(seconds=61)
    check_done(made, rehearsal, hits=HITS)


def test_a_study_that_takes_long_to_publish_is_waited_for(rehearsal, commit):
    rehearsal.fault(kind="publishing", operation="move_study", seconds=60, times=1)
    made = published(hits=HITS, commit=commit)
    assert Posting.objects.get().state == "planned"
    rehearsal.later(seconds=61)
    sync(made, commit)
    work(rehearsal, commit, HITS)
    sync(made, commit)
    check_done(made, rehearsal, hits=HITS)


def test_what_waited_for_money_goes_on_when_there_is_some(rehearsal, commit):
    rehearsal.fault(kind="balance", operation="move_study", nth=1, amount="0.50")
    made = published(hits=HITS, commit=commit)
    assert rehearsal.study().status == "UNPUBLISHED"
    rehearsal.world.act("set_balance", available="10000.00")
    sync(made, commit)
    assert (rehearsal.study().status, len(rehearsal.studies())) == ("ACTIVE", 1)


def test_two_writers_of_places_agree_on_the_higher_number(rehearsal, commit):
    made = published(hits=HITS, commit=commit)
    Seat.objects.create(round=made, hit=made.hits.first(), number=2)
    rehearsal.fault(kind="crowd", operation="show_study", act="places", nth=1)
    with commit(execute=True):
        assert post_open_seats(made) == 1
    sync(made, commit)
    assert rehearsal.study().places == HITS + 1
    sync(made, commit)
    assert rehearsal.study().places == HITS + 1


def test_a_place_that_becomes_free_after_its_answers_are_in_costs_nothing(rehearsal, commit):
    made = published(hits=2, commit=commit)
    with commit(execute=True):
        submission, person, sheet = rehearsal.open()
        rehearsal.answer(submission, person, sheet)
        rehearsal.work()
    rehearsal.later(hours=2)
    sync(made, commit)
    assert rehearsal.study().status == "PAUSED"
    late = Assignment.objects.get(state="flagged")
    with commit(execute=True):
        decide(late, votes_count=False, paid=True, reason="Looked at.", by=robin())
    sync(made, commit)
    sync(made, commit)
    assert rehearsal.study().status == "ACTIVE"
    assert rehearsal.study().places == 2
