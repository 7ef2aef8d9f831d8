"""What the home page lists under "needs you"."""

from datetime import timedelta
from decimal import Decimal

from django.contrib.auth.models import User
from django.utils import timezone

from annotation.models import Assignment
from console.home.needs import needs_of_all_rounds
from core.models import Job
from crowd.calls.funds import note_funds
from crowd.models import Outbox, Posting
from crowd.posting.publication import publish_round
from tests.annotation.answering import address, leased
from tests.annotation.money.moneyed import flagged, posted
from tests.conftest import client_of
from tests.factories import make_round


def needed() -> dict[str, str]:
    return {need.text: need.url for need in needs_of_all_rounds(User(is_superuser=True))}


def test_a_round_in_order_needs_nobody(platform, db):
    posted()
    assert needed() == {}


def test_calls_that_failed_lead_to_their_page(platform, db):
    posted(hits=2)
    Outbox.objects.update(state="failed")
    assert needed() == {"2 platform calls failed": "/calls/"}


def test_calls_that_wait_for_long_after_an_error_are_told(platform, db):
    posted()
    Outbox.objects.update(state="pending", error="Insufficient funds.")
    assert needed() == {}
    Outbox.objects.update(created_at=timezone.now() - timedelta(minutes=11))
    assert needed() == {"1 platform call could not be made yet": "/calls/"}


def test_a_round_that_is_not_synced_is_told(platform, db):
    posted()
    Posting.objects.update(seen_at=timezone.now() - timedelta(hours=2))
    assert needed() == {"round-1 was last synced 2\xa0hours ago. Is the Celery worker running?": "/rounds/round-1/"}


def test_a_worker_that_is_busy_is_not_asked_for(platform, db):
    posted()
    Posting.objects.update(seen_at=timezone.now() - timedelta(hours=2))
    Job.objects.create(title="a search", task="none", state="running")
    Job.objects.create(title="next", task="none", heartbeat_at=timezone.now() - timedelta(minutes=5))
    told = "round-1 was last synced 2\xa0hours ago. The worker is busy with a search"
    assert needed() == {told: "/rounds/round-1/"}


def test_an_account_that_holds_too_little_is_told(platform, db, monkeypatch):
    made = publish_round(make_round(hits=2, published=False), channel="mturk", actor="robin")
    monkeypatch.setattr(platform, "funds", lambda environment: Decimal(1))
    note_funds(made)
    assert list(needed()) == [
        "The account on Fake, emulator held $1.00 at the last check, but $1.56 are still to be paid"
    ]


def test_submissions_with_a_problem_are_told_until_they_are_decided(platform, db):
    assignment = flagged(posted())
    Assignment.objects.update(problem="No whole answer set is here.")
    assert "1 submission with a problem in round-1" in needed()
    assignment.state = "accepted"
    assignment.save()
    assert "1 submission with a problem in round-1" not in needed()


WORK = "1 flagged assignment in open"
DRAFT = "draft is planned and not yet published"
FAILED = "Plan zebra failed"


def test_each_role_is_told_what_it_can_do(site):
    Job.objects.create(title="Plan zebra", task="none", state="failed", finished_at=timezone.now())
    roles = {None: set(), "reviewer": {WORK}, "researcher": {DRAFT, FAILED}, "admin": {WORK, DRAFT, FAILED}}
    for role, told in roles.items():
        client = client_of(role)
        home, round = client.get("/").text, client.get("/rounds/open/").text
        assert {text for text in (WORK, DRAFT, FAILED) if text in home} == told
        assert ("Nothing needs you." in home) == (told == set())
        assert ("Needs you" in round) == (WORK in round) == (WORK in told)


def test_whoever_started_a_job_is_told_that_it_failed(db):
    client = client_of("reviewer")
    mine = {"created_by": User.objects.get(username="reviewer"), "finished_at": timezone.now()}
    Job.objects.create(title="Clean up zoo", task="none", state="failed", **mine)
    assert "Clean up zoo failed" in client.get("/").text


def test_strangers_and_workers_are_sent_to_the_login(site, client):
    work = address("task", leased(make_round(site.collection, "other")))
    assert client.get(work).status_code == 200
    for path in ("/", "/rounds/open/", "/rounds/open/live/"):
        assert client.get(path).url == f"/login/?next={path}"
