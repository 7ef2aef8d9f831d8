from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import Assignment
from core.models import Event
from crowd.calls.outbox import MAX_ATTEMPTS, deliver_due, send_failed_again
from crowd.channels.base import ChannelError
from crowd.models import Outbox, Posting, Visit
from crowd.posting.postings import (
    close_postings,
    dispose_of_finished,
    late_rounds,
    overview_of,
    post_open_seats,
    postings_for,
    work_to_look_at,
)
from crowd.posting.publication import close_round, publish_round
from hits.models import Round
from tests.annotation.money.moneyed import accepted, flagged, posted
from tests.commands import figures_printed
from tests.crowd.fakes import FakePlatform
from tests.crowd.platform import published, sync
from tests.factories import make_round, make_worker


@pytest.fixture
def three_posted(platform, db):
    return posted(hits=3)


def test_postings_work_and_calls_are_counted_by_state(three_posted):
    flagged(three_posted), flagged(three_posted)
    Posting.objects.filter(hit__number=3).update(state="planned", pending=1)
    Posting.objects.filter(hit__number=1).update(pending=2)
    Outbox.objects.filter(subject__endswith=f":{Posting.objects.first().pk}").update(state="failed")
    seen = overview_of(three_posted)
    assert seen.postings == {"planned": 1, "live": 2, "closed": 0, "disposed": 0}
    assert (seen.work["submitted"], seen.work["approved"], seen.pending) == (2, 0, 2)
    assert (seen.posted, seen.waiting, seen.failed) == (2, 0, 1)


def test_the_overview_has_the_first_automatic_approval(three_posted):
    flagged(three_posted), accepted(three_posted)
    soon = timezone.now() + timedelta(days=2)
    undecided = Visit.objects.filter(assignment__state="flagged")
    undecided.update(auto_approval_at=soon)
    assert overview_of(three_posted).approves_at == soon
    undecided.update(state="approved")
    assert overview_of(three_posted).approves_at != soon


def test_a_round_is_late_once_its_platform_was_not_read_for_long(three_posted):
    assert late_rounds() == []
    long_ago = timezone.now() - timedelta(minutes=11)
    Posting.objects.update(seen_at=long_ago)
    assert late_rounds() == [(three_posted.name, long_ago)]
    Posting.objects.filter(hit__number=2).update(seen_at=timezone.now())
    assert late_rounds() == []


def test_a_round_that_was_never_read_is_late_since_it_was_posted(three_posted):
    Posting.objects.update(posted_at=timezone.now() - timedelta(hours=1))
    assert [name for name, _ in late_rounds()] == [three_posted.name]


def test_a_slow_clock_is_given_five_turns(three_posted, settings):
    settings.SYNC_SECONDS = 600
    Posting.objects.update(seen_at=timezone.now() - timedelta(minutes=49))
    assert late_rounds() == []


def test_a_round_that_nothing_can_come_from_is_never_late(three_posted):
    Posting.objects.update(settled_at=timezone.now(), state="closed", seen_at=timezone.now() - timedelta(days=9))
    assert late_rounds() == []


def test_work_with_a_problem_is_to_be_looked_at_until_it_is_decided(three_posted):
    flagged(three_posted), accepted(three_posted)
    assert not work_to_look_at(three_posted).exists()
    Assignment.objects.update(problem="Odd.")
    assert work_to_look_at(three_posted).count() == 1
    assert not work_to_look_at(make_round(three_posted.pool.collection, "other")).exists()


@pytest.mark.parametrize(("replication", "postings"), [(1, 2), (9, 2), (10, 4), (19, 6)])
def test_a_posting_brings_no_more_answer_sets_than_the_platform_lets_it(platform, db, replication, postings):
    assert postings_for(make_round(hits=2, replication=replication), "mturk") == postings


def test_added_and_closed_postings_are_sent_when_the_change_is_committed(db, platform, commit):
    made = make_round(published=False)
    with commit(execute=True):
        publish_round(made, channel="mturk", actor="robin")
    made.refresh_from_db()
    assert list(Posting.objects.values_list("state", flat=True)) == ["live"]
    Posting.objects.update(state="closed", settled_at=timezone.now())
    with commit(execute=True):
        assert post_open_seats(made) == 1
    assert Posting.objects.filter(state="live").count() == 1
    with commit(execute=True):
        assert close_postings(made) == 1
    assert not Posting.objects.filter(state="live").exists()


@pytest.fixture
def unposted(platform, db) -> Round:
    """A published round whose HIT is not on the platform yet."""
    return publish_round(make_round(published=False), channel="mturk", actor="robin")


def state() -> str:
    return Posting.objects.get().state


def test_what_a_closed_round_had_not_posted_is_never_posted(unposted, platform):
    close_round(unposted, actor="robin")
    deliver_due(unposted)
    assert ([call for call, _ in platform.calls], state()) == ([], "closed")


def test_a_hit_that_is_posted_while_its_round_is_closed_is_closed_as_well(unposted, platform, monkeypatch):
    def publish_late(posting, *, token):
        close_round(unposted, actor="robin")
        deliver_due(unposted)  # the call to close it finds nothing to close
        FakePlatform.publish(platform, posting, token=token)

    monkeypatch.setattr(platform, "publish", publish_late)
    deliver_due(unposted)
    deliver_due(unposted)
    assert ([call for call, _ in platform.calls], state()) == (["publish", "close"], "closed")


def test_a_hit_whose_posting_is_unclear_is_found_and_closed_with_its_round(unposted, platform):
    platform.failures = [ChannelError("The reply was lost.", reached=True)] * MAX_ATTEMPTS
    for _ in range(MAX_ATTEMPTS):
        Outbox.objects.update(due_at=timezone.now())
        deliver_due(unposted)
    assert Outbox.objects.get().state == "failed"
    close_round(unposted, actor="robin")
    send_failed_again(unposted, actor="robin")
    for _ in range(2):
        deliver_due(unposted)
    assert ([call for call, _ in platform.calls][MAX_ATTEMPTS:], state()) == (["publish", "close"], "closed")


SANDBOX = {"channel": "mturk", "environment": "sandbox"}


def posting(*, days: int, status: str = "approved", **fields) -> Posting:
    """A closed posting whose only work was submitted ``days`` ago."""
    then = timezone.now() - timedelta(days=days)
    hit = make_round().hits.get()
    made = Posting.objects.create(
        round=hit.round,
        hit=hit,
        **SANDBOX | {"external_id": "H1", "state": "closed", "settled_at": then, "max_assignments": 1} | fields,
    )
    times = {"deadline": then, "submitted_at": then}
    work = Assignment.objects.create(hit=made.hit, worker=make_worker(), outside_key="T1", **times)
    made.begin_visit(work, state=status)
    return made


def test_old_and_decided_hits_are_removed_once(db, platform, commit):
    made = posting(days=31)
    with commit(execute=True):
        assert [dispose_of_finished(), dispose_of_finished()] == [1, 0]
    made.refresh_from_db()
    assert made.state == "disposed"


def test_a_hit_that_is_removed_is_deleted_on_mturk_and_once(rehearsal, commit):
    made = published(hits=2, commit=commit)
    removed, kept = rehearsal.hits()
    with commit(execute=True):
        close_postings(made)
    long_ago = timezone.now() - timedelta(days=31)
    Posting.objects.filter(external_id=removed).update(state="closed", settled_at=long_ago)
    for _ in range(2):
        with commit(execute=True):
            dispose_of_finished()
    statuses = [rehearsal.world.call("GetHIT", {"HITId": hit})["HIT"]["HITStatus"] for hit in (removed, kept)]
    assert statuses == ["Disposed", "Reviewable"]
    assert list(Outbox.objects.filter(call="dispose").values_list("state", flat=True)) == ["done"]


@pytest.mark.parametrize(
    "kept",
    [
        {"days": 29},
        {"days": 31, "status": "submitted"},
        {"days": 31, "state": "live"},
        {"days": 31, "settled_at": None},
    ],
)
def test_a_hit_whose_work_could_still_be_decided_or_reversed_stays(db, platform, kept):
    posting(**{"days": 31} | kept)
    assert dispose_of_finished() == 0
    assert not Outbox.objects.exists()


# The postings of a round stay longer on the platform, against the emulator


def expiry_there(rehearsal, hit_id):
    return rehearsal.world.call("GetHIT", {"HITId": hit_id})["HIT"]["Expiration"]


def test_hits_stay_on_the_platform_for_as_long_as_asked(rehearsal, commit):
    made = published(hits=2, commit=commit)
    figures = figures_printed("prolong", made.name, "--days", "20")
    assert (figures["postings"], figures["answer sets open in them"], figures["set aside again"]) == (2, 2, "0.00")
    assert set(Posting.objects.values_list("expires_at", flat=True)) == {
        expiry_there(rehearsal, hit) for hit in rehearsal.hits()
    }
    assert Posting.objects.first().expires_at > timezone.now() + timedelta(days=19, hours=23)
    assert Event.objects.filter(verb="prolonged", actor="prolong").count() == 1
    assert figures_printed("prolong", made.name, "--days", "20")["postings"] in (0, 2)  # 2 once a second has passed
    assert figures_printed("prolong", made.name, "--days", "19")["postings"] == 0


def test_expired_hits_are_offered_again_and_a_dry_run_names_the_cost(rehearsal, commit):
    made = published(hits=2, commit=commit)
    rehearsal.work(rehearsal.hits()[0], rehearsal.worker())
    sync(made, commit)
    held = rehearsal.available()
    rehearsal.later(days=8)
    Posting.objects.update(expires_at=timezone.now() - timedelta(hours=1), settled_at=None, state="live")
    figures = figures_printed("prolong", made.name, "--days", "30", "--dry-run")
    assert (figures["postings to prolong"], figures["of these offered again"], figures["set aside again"]) == (
        1,
        1,
        "0.78",
    )
    assert not Outbox.objects.filter(call="prolong").exists()
    assert figures_printed("prolong", made.name, "--days", "30")["calls waiting or failed"] == 0
    assert rehearsal.available() == held
    rehearsal.work(rehearsal.hits()[1], rehearsal.worker())


def test_a_call_whose_answer_is_lost_prolongs_once(rehearsal, commit):
    made = published(hits=1, commit=commit)
    rehearsal.fault(kind="drop", operation="UpdateExpirationForHIT", nth=1)
    assert figures_printed("prolong", made.name, "--days", "20")["calls waiting or failed"] == 1
    sync(made, commit)
    assert Outbox.objects.get(call="prolong").state == "done"
    assert Posting.objects.get().expires_at == expiry_there(rehearsal, rehearsal.hits()[0])


def test_invalid_days_and_closed_rounds_are_refused(rehearsal, commit):
    made = published(hits=1, commit=commit)
    for days in ("0", "366", "-1"):
        with pytest.raises(CommandError, match=f"number of days {days}:"):
            call_command("prolong", made.name, f"--days={days}")
    call_command("close", made.name)
    with pytest.raises(CommandError, match="is not open on a platform"):
        call_command("prolong", made.name, "--days", "3")
