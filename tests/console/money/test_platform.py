"""A round on its platform in the console: its postings, sync, audit and repair, and calls."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.html import strip_tags

from annotation.models import Assignment, Payment, WorkerIdentity
from core.models import Event, Job
from crowd.channels.base import ChannelError
from crowd.differences import Difference, Kind
from crowd.jobs import keep_audit
from crowd.models import AccountBalance, Audit, Outbox, Posting, Visit
from hits.models import Round
from tests.annotation.money.moneyed import flagged, posted
from tests.crowd.platform import published, rehearsal, sync
from tests.factories import make_collection, make_round, make_worker

__all__ = ["rehearsal"]


@pytest.fixture
def half_judged(rehearsal, commit) -> Round:
    """A round of two HITs, one of which is answered, accepted and paid."""
    made = published(hits=2, commit=commit)
    rehearsal.work(rehearsal.hits()[0], rehearsal.worker())
    sync(made, commit), sync(made, commit)
    return made


def press(client, commit, address: str, **fields) -> Job:
    """Press a button that starts a job, and let the job end."""
    with commit(execute=True):
        answer = client.post(f"/rounds/round-1/{address}/", fields)
    return Job.objects.get(pk=answer.url.split("/")[2])


def test_a_round_shows_its_state_on_the_platform_and_offers_acts_to_researchers(member, researcher, half_judged):
    page = member.get("/rounds/round-1/money/").text
    answer = strip_tags(page)
    assert "On MTurk, emulator" in answer
    assert "no real money" in answer
    assert "1 approved" in answer
    assert "1 new submission, 1 stored" in answer
    assert "/judge/join/" not in answer
    offered = researcher.get("/rounds/round-1/money/").text
    for act in ("Sync now", "/rounds/round-1/prolong/"):
        assert (act in page, act in offered) == (False, True)


def test_sync_is_a_job_that_says_what_it_brought(researcher, half_judged, rehearsal, commit):
    rehearsal.work(rehearsal.hits()[1], rehearsal.worker())
    job = press(researcher, commit, "sync")
    assert job.state == "done"
    assert "1 new submission, 1 stored" in job.message
    assert Assignment.objects.without_claims().count() == 2
    assert AccountBalance.objects.exists()


def test_a_round_on_no_platform_has_no_such_page(releaser, db):
    make_round()
    for address in ("sync", "audit/start", "audit/repair", "calls/send"):
        assert releaser.post(f"/rounds/round-1/{address}/").status_code == 404, address
    assert not Job.objects.exists()


def test_an_audit_of_two_sides_that_agree_says_so_and_has_nothing_to_confirm(
    researcher, half_judged, rehearsal, commit
):
    Job.objects.create(title="Audit", task="console.tasks.audit", params={"round": "another"}, state="running")
    answer = researcher.get("/rounds/round-1/money/")
    assert ("Not compared yet." in answer.text, answer.context["platform"]["comparing"]) == (True, None)
    assert press(researcher, commit, "audit/start").message == "No differences."
    assert "No differences." in researcher.get("/rounds/round-1/money/").text
    assert "/audit/repair/" not in researcher.get("/rounds/round-1/money/").text
    rehearsal.fault(kind="reset", operation="ListHITs")
    job = press(researcher, commit, "audit/start")
    assert job.state == "failed"
    assert Audit.objects.count() == 1


def test_looking_names_the_differences_and_mends_nothing(researcher, half_judged, commit):
    Payment.objects.update(state="owed", paid_at=None)
    job = press(researcher, commit, "audit/start")
    page = researcher.get("/rounds/round-1/money/").text
    assert "record the payment" in page
    assert "/rounds/round-1/audit/repair/" in page
    assert "/rounds/round-1/money/" in researcher.get(f"/jobs/{job.pk}/").text
    earlier = Audit.objects.get().pk
    press(researcher, commit, "audit/start")
    answer = researcher.post("/rounds/round-1/audit/repair/", {"shown": earlier}, follow=True)
    assert "The books were compared again." in answer.text
    assert Payment.objects.get().state == "owed"


def test_repairing_does_once_confirmed_what_was_named_and_nothing_that_came_later(
    researcher, half_judged, rehearsal, commit
):
    rehearsal.work(rehearsal.hits()[1], rehearsal.worker())
    press(researcher, commit, "audit/start")
    assert "collect it" in researcher.get("/rounds/round-1/money/").text
    assert Visit.objects.listed().count() == 1
    Payment.objects.update(state="owed", paid_at=None)
    job = press(researcher, commit, "audit/repair", shown=Audit.objects.get().pk)
    assert job.message.startswith("1 of 1 difference repaired.")
    assert Visit.objects.listed().count() == 2
    assert Event.objects.get(verb="repaired").actor == "researcher"
    assert Payment.objects.get(assignment__isnull=False).state == "owed"


def test_hits_that_stay_on_the_market_fail_the_closing(researcher, platform, commit):
    posted(hits=2)
    platform.failures = [ChannelError("Not now, not ever.", permanent=True)]
    job = press(researcher, commit, "close")
    assert job.state == "failed"
    assert "1 posting could not be ended" in job.message
    assert Round.objects.get().state == "closed"


# Calls


@pytest.fixture
def refused(platform) -> Round:
    """A round whose calls to post its two HITs were refused for good, in words that name a worker by platform id."""
    platform.failures = [ChannelError("Worker ASECRET1 is unknown.", permanent=True)] * 2
    made = posted(hits=2)
    worker = make_worker()
    WorkerIdentity.objects.create(worker=worker, channel="mturk", environment="emulator", external_id="ASECRET1")
    return made


def test_failed_calls_are_shown_without_platform_ids(releaser, refused):
    pseudonym = WorkerIdentity.objects.get().worker.pseudonym
    page = releaser.get("/rounds/round-1/money/")
    assert page.text.count(pseudonym) == 2
    assert "ASECRET1" not in page.text
    assert [call.state for call, _ in page.context["platform"]["calls"]] == ["failed", "failed"]


def test_the_event_log_has_no_platform_ids(member, platform):
    worker = make_worker()
    WorkerIdentity.objects.create(worker=worker, channel="mturk", environment="emulator", external_id="ASECRET1")
    platform.failures = [ChannelError("Worker ASECRET1 is unknown.", permanent=True)]
    posted()
    page = member.get("/activity/").text
    assert worker.pseudonym in page
    assert "ASECRET1" not in page


def test_failed_calls_of_a_round_are_sent_again(researcher, refused, commit):
    with commit(execute=True):
        answer = researcher.post("/rounds/round-1/calls/send/", follow=True)
    assert "2 calls being retried." in answer.text
    assert set(Posting.objects.values_list("state", flat=True)) == {"live"}
    assert "No call has failed." in researcher.post("/rounds/round-1/calls/send/", follow=True).text


def test_a_submission_that_could_not_be_taken_in_is_paid_by_a_named_person(reviewer, platform, commit):
    flagged(posted())
    Assignment.objects.update(state="leased", seat=None, problem="The platform lists another answer than before.")
    work = Assignment.objects.get()
    assert f"/{work.pk}/pay/" in reviewer.get("/rounds/round-1/money/").text
    refused = reviewer.post(f"/submissions/{work.pk}/pay/", {"reason": " "})
    assert refused.status_code == 422
    assert not Payment.objects.exists()
    for _ in range(2):
        with commit(execute=True):
            answer = reviewer.post(f"/submissions/{work.pk}/pay/", {"reason": "The disk was full."}, follow=True)
        assert f"{work.worker}: $0.65" in answer.text
    assert Payment.objects.count() == 1


# Queries


def test_a_rounds_page_asks_no_more_for_more_postings_and_calls(member, platform):
    zoos = {name: make_collection(name, images=14, pictures=True) for name in ("few", "many")}
    few, many = (posted(collection=zoos[name], hits=hits, name=name) for name, hits in (("few", 1), ("many", 3)))
    for made in (few, many):
        while flagged(made):
            pass
    Outbox.objects.update(state="failed", error="Refused.")
    counts = []
    for made in (few, many):
        member.get(f"/rounds/{made.name}/money/")
        with CaptureQueriesContext(connection) as asked:
            assert member.get(f"/rounds/{made.name}/money/").status_code == 200
        counts.append(len(asked))
    assert counts[0] == counts[1] <= 69


# Prolonging


def test_what_a_longer_life_of_the_postings_means_is_shown_before_it_is_confirmed_once(
    researcher, half_judged, commit, monkeypatch
):
    expiry = Posting.objects.get(hit__number=2).expires_at
    for days, status in (("0", 409), ("366", 409), ("x", 422), ("", 422)):
        assert researcher.post("/rounds/round-1/prolong/", {"days": days}).status_code == status, days
    shown = researcher.post("/rounds/round-1/prolong/", {"days": "30"})
    assert "1 posting with 1 open answer set" in shown.text
    assert "$0.00 set aside, fees included" in shown.text
    assert not Outbox.objects.filter(call="prolong").exists()
    pressed = timezone.now()
    with commit(execute=True):
        answer = researcher.post(
            "/rounds/round-1/prolong/", {"days": "30", "shown": shown.context["shown"].key}, follow=True
        )
    assert "1 posting stays until" in answer.text
    assert Posting.objects.get(hit__number=2).expires_at > expiry
    assert Event.objects.filter(verb="prolonged", actor="researcher").count() == 1
    monkeypatch.setattr(timezone, "now", lambda: pressed)  # twice at the same moment
    for days in ("30", "7"):
        assert "Nothing has to be done" in researcher.post("/rounds/round-1/prolong/", {"days": days}).text
    assert Outbox.objects.get(call="prolong").state == "done"
    Round.objects.update(closed_at=timezone.now())
    answer = researcher.post("/rounds/round-1/prolong/", {"days": "60"})
    assert (answer.status_code, "is not open on a platform" in answer.text) == (409, True)


def test_an_audit_counts_all_differences_and_stores_the_first(platform, db, monkeypatch):
    monkeypatch.setattr("crowd.jobs.MOST_DIFFERENCES", 2)
    found = [
        Difference(Kind.OTHER_STATUS, f"work {number}", "owed", "paid", "record the payment") for number in range(3)
    ]
    assert keep_audit(posted(), found, actor="ann") == "3 differences found."
    audit = Audit.objects.get()
    assert [row["of"] for row in audit.differences] == ["work 0", "work 1"]
    assert audit.repaired is None
