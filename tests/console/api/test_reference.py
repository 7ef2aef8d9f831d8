"""The reference pages of the API agree with its calls."""

import re

import pytest
from django.test import Client

from console.api.reference import calls_by_subject
from console.api.site_api import api
from console.rounds.resources import RoundParameters

ROOT = "/api/v1"
PATHS = api.get_openapi_schema()["paths"]
NAMED = re.compile(r"\b(GET|POST|DELETE) (/[^\s?]*)")


@pytest.fixture
def page(db) -> str:
    """The page of all calls, as a visitor who has not logged in sees it."""
    return Client().get("/api/").text


@pytest.fixture
def text(db) -> str:
    return Client().get("/llms.txt").text


def test_the_page_has_every_call_with_its_scope(page):
    answer = [(call["operationId"], call["x-scope"]) for calls in PATHS.values() for call in calls.values()]
    assert [name for name, _ in answer if f' id="{name}">' not in page] == []
    assert [scope for _, scope in answer if scope and f"Scope <code>{scope}</code>" not in page] == []


def test_the_page_has_the_parameters_of_a_body(page):
    plan = page.split('id="plan_round"')[1].split('class="call"')[0]
    assert [name for name in RoundParameters.fields() if f"<code>{name}</code>" not in plan] == []
    assert "name of the new round" in plan
    assert ", default " in plan


def test_a_call_is_read_from_the_description():
    calls = {call.name: call for calls in calls_by_subject().values() for call in calls}
    jobs = calls["jobs"]
    said = {part.name: (part.values, part.required) for part in jobs.takes}
    assert said["limit"] == ("integer, minimum 1, maximum 1,000, default 50", False)
    assert said["state"] == ("queued | running | done | failed | cancelled", False)
    assert {"id", "created_at", "total"} <= set(jobs.answers)
    cancel = calls["cancel_job"]
    assert (cancel.method, cancel.scope, cancel.roles) == ("POST", "jobs:write", ["researcher", "admin"])
    assert [part.name for part in cancel.takes] == ["id"]
    assert cancel.brief == "Ask a job to stop at its next safe point."


def test_the_page_and_the_text_need_no_login_and_name_the_site(page, text, settings):
    settings.SITE_URL = "https://judge.example.org"
    for path in ("/api/", "/llms.txt"):
        assert "judge.example.org/api/v1" in Client().get(path).text
    assert "Log out" not in page


def test_every_call_that_the_text_names_exists(text):
    named = {(method.lower(), path.removeprefix(ROOT)) for method, path in NAMED.findall(text)}
    known = {(method, path.removeprefix(ROOT)) for path, calls in PATHS.items() for method in calls}
    assert named == known
