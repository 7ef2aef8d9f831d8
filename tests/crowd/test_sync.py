"""A round on a platform, from publishing to pay, against the emulator."""

from collections import Counter
from contextlib import suppress
from datetime import timedelta

import pytest
from botocore.client import BaseClient
from django.core.cache.backends.locmem import LocMemCache
from django.core.management import CommandError, call_command
from django.db.models import Value
from django.db.models.functions import Concat
from django.utils import timezone

from annotation.models import Assignment, Payment
from annotation.review.decisions import decide
from core.errors import CounterpartError
from core.models import Event
from counterpart_emulators.marketplace import Refusal
from crowd import tasks
from crowd.channels import platform
from crowd.channels.base import ChannelError
from crowd.models import Posting
from crowd.sync import rounds_to_sync, sync_round
from crowd.tasks import sync_one, sync_rounds
from crowd.visits.intake import REPEATED
from tests.crowd.platform import published, rehearsing, sync
from tests.factories import make_round


@pytest.mark.parametrize(
    ("operation", "time"), [("ApproveAssignment", "ApprovalTime"), ("RejectAssignment", "RejectionTime")]
)
def test_the_time_of_the_platforms_decision_is_listed(rehearsal, commit, operation, time):
    published(hits=1, commit=commit)
    assignment = rehearsal.work(rehearsal.hits()[0], rehearsal.worker())
    rehearsal.later(hours=1)
    rehearsal.world.call(operation, {"AssignmentId": assignment, "RequesterFeedback": "Thank you."})
    decided = rehearsal.world.call("GetAssignment", {"AssignmentId": assignment})["Assignment"][time]
    [listed] = platform("mturk").collect(Posting.objects.get()).assignments
    assert abs(listed.decided_at - decided) < timedelta(milliseconds=1)  # the protocol has milliseconds


def test_a_posting_is_settled_when_its_lists_have_agreed_for_long_enough(rehearsal, commit, settings):
    made = published(hits=1, commit=commit)
    settings.SYNC_LAG_SECONDS = 3600
    rehearsal.work(rehearsal.hits()[0], rehearsal.worker())
    sync_round(made)
    Posting.objects.update(over_since=timezone.now() - timedelta(minutes=30))
    sync_round(made)
    assert not Posting.objects.exclude(settled_at=None).exists()
    Posting.objects.update(over_since=timezone.now() - timedelta(seconds=3600))
    sync_round(made)
    assert Posting.objects.get().settled_at


def test_a_round_beyond_the_accounts_money_is_not_published(rehearsal, commit):
    rehearsal.world.act("set_balance", available="1.00")
    with pytest.raises(CommandError, match=r"\$2.34 .*\$1.00"):
        published(hits=3, commit=commit)
    assert not Posting.objects.exists()


def test_an_unreachable_platform_is_one_failure_and_is_not_called_on(rehearsal, commit):
    made = published(hits=5, commit=commit)
    rehearsal.emulator.stop()
    synced = sync_round(made)
    assert (synced.listed, synced.unlisted) == (0, 5)
    with pytest.raises(CommandError, match=r"3 HITs \(1, 2, 3\)"):
        call_command("sync", made.name)
    assert (len(synced.failures), rehearsal.emulator.url in synced.failures[0]) == (2, True)
    assert "other 2 HITs" in synced.failures[1]


def test_an_emulator_without_our_hits_is_reported_in_a_few_lines(rehearsal, commit, settings):
    made = published(hits=7, commit=commit)
    with rehearsing(settings):
        synced = sync_round(made)
    assert len(synced.failures) == 6
    assert "does not exist" in synced.failures[0]
    assert synced.failures[-1] == "2 more HITs could not be listed."


def test_work_that_waits_to_be_taken_in_is_not_asked_for_again(rehearsal, commit, monkeypatch):
    made = published(hits=2, commit=commit)
    rehearsal.work(rehearsal.hits()[0], rehearsal.worker())
    with monkeypatch.context() as patch:
        patch.setattr("crowd.sync.take_in_waiting", lambda round, progress: 0)  # as when another sync is just at it
        sync(made, commit)
    assert Assignment.objects.get().is_claim
    assert Posting.objects.count() == 2
    assert set(Posting.objects.values_list("max_assignments", flat=True)) == {1}
    sync(made, commit)
    assert Assignment.objects.get().state == "accepted"


def test_the_clock_syncs_every_round_that_something_may_still_come_of(rehearsal, commit):
    made = published(commit=commit)
    assert rounds_to_sync() == [made]
    for hit_id in rehearsal.hits():
        rehearsal.work(hit_id, rehearsal.worker())
    for _ in range(3):
        with commit(execute=True):
            sync_rounds()
    assert Payment.objects.filter(state="paid").count() == 2
    assert rounds_to_sync() == []


def test_the_journal_keeps_what_a_sync_brought_and_no_sync_that_brought_nothing(rehearsal, commit):
    made = published(hits=1, commit=commit)
    sync(made, commit)
    rehearsal.work(rehearsal.hits()[0], rehearsal.worker())
    sync(made, commit), sync(made, commit)
    assert Event.objects.get(verb="synced").data == {"submitted": 1, "taken_in": 1, "asked_for": 0}


def test_the_clocks_sync_notes_what_the_account_holds(rehearsal, commit):
    made = published(hits=1, commit=commit)
    sync_one(made.pk), sync_one(made.pk)
    assert Event.objects.get(verb="account held").data == {"amount": "9999.22"}


def test_a_killed_sync_blocks_its_round_for_five_minutes_after_its_last_progress(db, monkeypatch):
    made, clock, begun = make_round(), [0], []
    kept = LocMemCache("killed sync", {})
    kept.delete = lambda key: None  # kill -9 leaves the key
    monkeypatch.setattr("crowd.tasks.cache", kept)
    monkeypatch.setattr("time.time", lambda: clock[0])

    def killed(round, *, at_most, progress):
        begun.append(clock[0])
        clock[0] += 250
        progress("listing submissions", 1, 2)
        raise SystemExit

    monkeypatch.setattr("crowd.tasks.sync_round", killed)
    for clock[0] in (0, 549, 551):
        with suppress(SystemExit):
            sync_one(made.pk)
    assert begun == [0, 551]


@pytest.fixture
def repeated(rehearsal, commit) -> Assignment:
    """A worker's second answer to a HIT, in its other posting."""
    made = published(hits=1, replication=10, commit=commit)
    first, second = rehearsal.hits()
    worker = rehearsal.worker()
    rehearsal.work(first, worker)
    again = rehearsal.accept(second, worker)
    rehearsal.submit(again, worker, {"answers": ""})
    sync(made, commit)
    return Assignment.objects.get(outside_key=again)


def test_submissions_are_stored_though_their_workers_cannot_be_shut_out_elsewhere(rehearsal, commit, monkeypatch):
    def fail(*args: object) -> None:
        raise ChannelError("Too many requests.")

    made = published(hits=1, replication=10, commit=commit)
    rehearsal.work(rehearsal.hits()[0], rehearsal.worker())
    monkeypatch.setattr("crowd.channels.mturk.qualifications.assign", fail)
    sync(made, commit)
    assert Assignment.objects.get().state == "accepted"


def test_who_is_listed_for_a_hit_cannot_take_its_other_posting(rehearsal, commit):
    made = published(hits=1, replication=10, commit=commit)
    first, second = rehearsal.hits()
    worker = rehearsal.worker()
    rehearsal.work(first, worker)
    sync(made, commit)
    with pytest.raises(Refusal, match="answered HIT 1 of round-1"):
        rehearsal.accept(second, worker)


@pytest.mark.parametrize("paid", [True, False])
def test_a_second_answer_to_a_hit_is_paid_or_rejected_by_a_person_and_never_counted(repeated, commit, person, paid):
    assert (repeated.state, repeated.seat, repeated.payments.count()) == ("flagged", None, 0)
    assert repeated.problem == REPEATED
    with pytest.raises(CounterpartError, match="cannot count"):
        decide(repeated, votes_count=True, paid=True, reason="Fine.", by=person)
    words = {} if paid else {"grounds": "instructions", "evidence": "It is the second answer to the HIT."}
    with commit(execute=True):
        decide(repeated, votes_count=False, paid=paid, reason="Each worker answers a HIT once.", by=person, **words)
    repeated.refresh_from_db()
    assert (repeated.state, repeated.payments.count()) == ("excluded", int(paid))


@pytest.fixture
def calls(monkeypatch) -> Counter:
    """The calls that were made to the platform, by operation."""
    made, call = Counter(), BaseClient._make_api_call

    def counted(client, operation, parameters):
        made[operation] += 1
        return call(client, operation, parameters)

    monkeypatch.setattr(BaseClient, "_make_api_call", counted)
    return made


@pytest.fixture
def two_at_once(monkeypatch):
    monkeypatch.setattr(tasks, "LISTED_AT_ONCE", 2)


def test_the_clocks_sync_of_many_hits_makes_few_calls_and_lists_all_in_turn(rehearsal, commit, calls, two_at_once):
    made = published(hits=5, commit=commit)
    listed = []
    for _ in range(3):
        calls.clear()
        sync_one(made.pk)
        listed.append(calls["GetHIT"] + calls["ListAssignmentsForHIT"])
    assert listed == [4, 4, 4]
    assert not Posting.objects.filter(seen_at=None).exists()
    calls.clear()
    sync(made, commit)
    assert calls["GetHIT"] == 5  # a sync that a person starts lists everything


def test_answers_that_were_saved_with_us_are_looked_for_first(rehearsal, commit, two_at_once):
    made = published(hits=5, commit=commit)
    rehearsal.work(rehearsal.hits()[4], rehearsal.worker())
    with commit(execute=True):
        sync_one(made.pk)
    assert Assignment.objects.get().state == "accepted"


def test_postings_that_cannot_be_listed_do_not_take_the_places_of_others(rehearsal, commit, two_at_once):
    made = published(hits=4, commit=commit)
    Posting.objects.filter(hit__number__lte=2).update(external_id=Concat(Value("GONE"), "external_id"))
    sync_one(made.pk), sync_one(made.pk)
    assert Posting.objects.filter(seen_at=None).count() == 2
