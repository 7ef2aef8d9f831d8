"""Who may call, and the sentences of refusals."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.utils import timezone

from console.api.access_tokens import make_token
from core.models import Job
from tests.console.api.calls import API, Caller, caller_for, check_refused, problem


@pytest.fixture
def caller(person) -> Caller:
    return caller_for(person, "jobs:read")


def test_a_token_names_its_owner_and_its_scopes(caller):
    answer = caller.get("/me").json()
    assert (answer["user"], answer["token"], answer["scopes"]) == ("robin", "a program", ["jobs:read"])


def test_a_call_without_a_token_is_refused(db):
    response = Client().get(f"{API}/me")
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"
    assert "Authorization: Bearer" in problem(response)


@pytest.mark.parametrize("kind", ["Basic", "Token"])
def test_only_the_bearer_scheme_is_read(caller, kind):
    response = Client().get(f"{API}/me", headers={"Authorization": f"{kind} {caller.text}"})
    assert response.status_code == 401


def test_a_changed_token_is_refused(caller):
    caller.text = caller.text[:-10] + "A" * 10
    assert "Unknown token" in problem(caller.get("/me"))


@pytest.mark.parametrize(("field", "state"), [("expires_at", "expired"), ("revoked_at", "revoked")])
def test_a_token_that_has_ended_is_refused(caller, field, state):
    setattr(caller.token, field, timezone.now() - timedelta(seconds=1))
    caller.token.save()
    assert state in problem(caller.get("/me"))


def test_a_token_of_a_deactivated_account_is_refused(caller, person):
    person.is_active = False
    person.save()
    assert "deactivated" in problem(caller.get("/me"))


def test_a_token_is_refused_outside_its_networks(person):
    caller = Caller(*make_token(person, "here", ["jobs:read"], networks=["192.0.2.0/24"]))
    assert caller.get("/me", REMOTE_ADDR="192.0.2.9").status_code == 200
    response = caller.get("/me", REMOTE_ADDR="198.51.100.1")
    assert response.status_code == 403
    assert "198.51.100.1" in problem(response)


def test_a_scope_is_worth_no_more_than_the_role_at_its_use(person):
    group = Group.objects.get(name="researcher")
    person.groups.add(group)
    caller = caller_for(person, "jobs:write")
    person.groups.remove(group)
    job = Job.objects.create(title="long work", task="none")
    check_refused(caller.post(f"/jobs/{job.pk}/cancel"), 403, "role")
    assert Job.objects.get(pk=job.pk).state == "queued"


def test_too_many_calls_in_a_minute_are_refused(caller, settings, monkeypatch):
    settings.API_CALLS_PER_MINUTE = 2
    monkeypatch.setattr("console.api.bearer.time", lambda: 6_015.0)
    assert [caller.get("/me").status_code for _ in range(3)] == [200, 200, 429]
    assert caller.get("/me")["Retry-After"] == "45"


def wrong_tokens(right: str) -> list[str]:
    """Twenty with the identifier of the right one, twenty of which each has another, and twenty of no form."""
    same = [f"{right[:-20]}{number:020}" for number in range(20)]
    others = [f"cp_{number:08}{right[11:]}" for number in range(20)]
    return [*same, *others, *(f"guess-{number}" for number in range(20))]


def test_wrong_tokens_are_counted_by_address_and_a_right_one_still_passes(caller):
    right = caller.text
    statuses = []
    for caller.text in wrong_tokens(right):  # noqa: B020  the caller tries one after the other
        statuses.append(caller.get("/me", REMOTE_ADDR="192.0.2.1").status_code)
    assert statuses == [401] * 20 + [429] * 40
    assert caller.get("/me", REMOTE_ADDR="192.0.2.1")["Retry-After"] == "900"
    assert caller.get("/me", REMOTE_ADDR="192.0.2.2").status_code == 401
    caller.text = right
    assert caller.get("/me", REMOTE_ADDR="192.0.2.1").status_code == 200


def test_without_the_cache_there_is_no_limit(caller, monkeypatch):
    class Lost:
        def __getattr__(self, name):
            raise ConnectionError("the cache is lost")

    monkeypatch.setattr("core.web.throttles.cache", Lost())
    assert caller.get("/me").status_code == 200
    caller.text = caller.text[:-10] + "A" * 10
    assert caller.get("/me").status_code == 401


def test_the_use_of_a_token_is_kept_by_the_hour(caller):
    caller.get("/me")
    caller.token.refresh_from_db()
    assert timezone.now() - caller.token.last_used_at < timedelta(hours=1)
    assert caller.token.last_used_at.minute == 0


@pytest.mark.parametrize("path", ["/nothing", "/me/", "/jobs/1", "/%00"])
def test_an_address_that_leads_nowhere_is_a_problem(caller, path):
    check_refused(caller.get(path), 404, "openapi.json")


def test_a_method_that_an_address_does_not_take_is_a_problem(caller):
    check_refused(caller.post("/me"), 405, "method")


def test_a_failure_of_the_site_is_a_problem(caller, monkeypatch):
    monkeypatch.setattr("console.home.resources.part_of", lambda *_, **__: 1 / 0)
    response = caller.get("/jobs")
    assert response.status_code == 500
    assert "log" in problem(response)


def test_a_body_that_is_too_large_is_a_problem(person):
    caller = caller_for(person)
    check_refused(caller.post("/jobs/00000000-0000-0000-0000-000000000000/cancel", "x" * 300_000), 413, "uploads")


def test_the_description_needs_no_token(db):
    described = Client().get(f"{API}/openapi.json").json()
    assert described["openapi"] == "3.1.0"
    assert f"{API}/jobs" in described["paths"]
