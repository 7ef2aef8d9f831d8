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


def test_calls_that_failed_or_wait_for_long_after_an_error_are_listed(platform, db):
    posted()
    assert needed() == {}
    Outbox.objects.update(state="pending", error="Insufficient funds.")
    assert needed() == {}
    Outbox.objects.update(created_at=timezone.now() - timedelta(minutes=11))
    assert needed() == {"1 platform call of round-1 could not be made yet": "/rounds/round-1/money/"}
    Outbox.objects.update(state="failed")
    assert needed() == {"1 platform call of round-1 failed": "/rounds/round-1/money/"}


def test_a_round_that_is_not_synced_is_listed_with_the_state_of_the_worker(platform, db):
    posted()
    Posting.objects.update(seen_at=timezone.now() - timedelta(hours=2))
    late = "round-1 was last synced 2\xa0hours ago."
    assert needed() == {f"{late} Is the Celery worker running?": "/rounds/round-1/money/"}
    Job.objects.create(title="a search", task="none", state="running")
    Job.objects.create(title="next", task="none", heartbeat_at=timezone.now() - timedelta(minutes=5))
    assert needed() == {f"{late} The worker is busy with a search": "/rounds/round-1/money/"}


def test_an_account_with_too_little_money_is_listed(platform, db, monkeypatch):
    made = publish_round(make_round(hits=2, published=False), channel="mturk", actor="robin")
    monkeypatch.setattr(platform, "funds", lambda environment: Decimal(1))
    note_funds(made)
    ((text, url),) = needed().items()
    assert ("$1.00" in text, "$1.56" in text, url) == (True, True, "/rounds/")


def test_submissions_with_a_problem_are_listed_until_they_are_decided(platform, db):
    assignment = flagged(posted())
    Assignment.objects.update(problem="No whole answer set is here.")
    assert any("with a problem" in text for text in needed())
    assignment.state = "accepted"
    assignment.save()
    assert not any("with a problem" in text for text in needed())


WORK = "1 flagged assignment in open"
DRAFT = "draft is planned and not yet published"
FAILED = "Plan zebra failed"


def test_each_role_sees_its_own_needs(site):
    Job.objects.create(title="Plan zebra", task="none", state="failed", finished_at=timezone.now())
    roles = {None: set(), "reviewer": {WORK}, "researcher": {DRAFT, FAILED}, "admin": {WORK, DRAFT, FAILED}}
    for role, needs in roles.items():
        client = client_of(role)
        assert {need.text for need in client.get("/").context["needs"]} & {WORK, DRAFT, FAILED} == needs
        assert (WORK in client.get("/rounds/open/").text) == (WORK in needs)


def test_the_failure_of_a_job_is_listed_for_its_owner(db):
    client = client_of("reviewer")
    mine = {"created_by": User.objects.get(username="reviewer"), "finished_at": timezone.now()}
    Job.objects.create(title="Clean up zoo", task="none", state="failed", **mine)
    assert [need.text for need in client.get("/").context["needs"]] == ["Clean up zoo failed"]


def test_strangers_and_workers_are_sent_to_the_login(site, client):
    work = address("task", leased(make_round(site.collection, "other")))
    assert client.get(work).status_code == 200
    for path in ("/", "/rounds/open/", "/rounds/open/live/"):
        assert client.get(path).url == f"/login/?next={path}"
