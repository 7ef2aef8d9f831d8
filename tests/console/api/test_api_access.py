"""Who may call what: every operation of the description, by every kind of caller."""

import json
import re
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.test import Client

from console.api.access_tokens import make_token
from console.api.scopes import ROLES, SCOPES, roles_that_may, scopes_of
from console.api.site_api import api

CALLS = [
    (method, path, call) for path, calls in api.get_openapi_schema()["paths"].items() for method, call in calls.items()
]
ANY = {"integer": "1", "uuid": "00000000-0000-0000-0000-000000000000"}


def owner_with(role: str) -> User:
    owner = User.objects.create_user(role)
    if role != "member":
        owner.groups.add(Group.objects.get(name=role))
    return owner


def status_of(method: str, path: str, call: dict, text: str = "") -> int:
    """Call with nothing in particular; what changes is taken back."""
    schemas = {f"{{{one['name']}}}": one["schema"] for one in call["parameters"] if one["in"] == "path"}
    address = re.sub(
        r"{\w+}", lambda found: ANY.get(schemas[found[0]].get("format") or schemas[found[0]]["type"], "any"), path
    )
    headers = {"Idempotency-Key": uuid4().hex} | ({"Authorization": f"Bearer {text}"} if text else {})
    block = transaction.atomic()
    block._from_testcase = True  # code under test still has to open a transaction of its own
    with block:
        answer = getattr(Client(raise_request_exception=False), method)(
            address,
            None if method in ("get", "head") else json.dumps({}),
            content_type="application/json",
            headers=headers,
        )
        transaction.set_rollback(True)
    return answer.status_code


def refused(text: str = "") -> dict[str, int]:
    """The calls that are refused for who calls, or answered with a fault, and how."""
    statuses = {call["operationId"]: status_of(method, path, call, text) for method, path, call in CALLS}
    return {name: status for name, status in statuses.items() if status in (401, 403) or status >= 500}


def test_every_call_says_which_scope_and_role_it_needs():
    assert len(CALLS) > 3
    assert {call["operationId"] for _, _, call in CALLS if call["x-scope"] is None} == {"me"}
    assert {call["x-scope"] for _, _, call in CALLS} - {None} <= set(SCOPES)
    assert [call["operationId"] for method, _, call in CALLS if method == "get" and "member" not in call["x-roles"]
            and not call["x-scope"].startswith("webhooks:")] == []  # fmt: skip


@pytest.mark.parametrize("role", ROLES)
def test_the_roles_of_scopes_are_those_of_accounts(role, db):
    assert scopes_of(owner_with(role)) == [name for name in SCOPES if role in roles_that_may(name)]


def test_without_a_token_every_call_is_refused(db):
    assert refused() == {call["operationId"]: 401 for _, _, call in CALLS}


@pytest.mark.parametrize("role", ROLES)
def test_a_token_with_all_scopes_of_its_role_makes_the_calls_of_the_role(role, db):
    owner = owner_with(role)
    _, text = make_token(owner, "a program", scopes_of(owner))
    assert refused(text) == {call["operationId"]: 403 for _, _, call in CALLS if role not in call["x-roles"]}


@pytest.mark.parametrize("only", ["events:read", "webhooks:write"])
def test_a_token_makes_no_call_of_another_scope(only, db):
    _, text = make_token(owner_with("admin"), "a program", [only])
    assert refused(text) == {call["operationId"]: 403 for _, _, call in CALLS if call["x-scope"] not in (only, None)}


def test_no_call_finds_a_row_that_does_not_exist(db):
    owner = owner_with("admin")
    _, text = make_token(owner, "a program", scopes_of(owner))
    answers = {
        call["operationId"]: status_of(method, path, call, text)
        for method, path, call in CALLS
        if "{" in path and method in ("get", "delete")
    }
    assert {name: status for name, status in answers.items() if status != 404} == {}


def test_the_role_alone_makes_no_call(db):
    """A token whose scopes were removed, which no page allows."""
    token, text = make_token(owner_with("admin"), "a program", ["jobs:read"])
    token.scopes = []
    token.save()
    assert refused(text) == {call["operationId"]: 403 for _, _, call in CALLS if call["x-scope"]}


def test_the_head_of_a_call_needs_a_token_too(db):
    heads = {status_of("head", path, call) for method, path, call in CALLS if method == "get"}
    assert heads <= {401, 405}
