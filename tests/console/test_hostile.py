"""Every call and page is sent what no reader expects: none fails, and what cannot be stored changes nothing."""

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache, partial
from html.parser import HTMLParser
from logging import getLogger
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from django.test import Client, RequestFactory

from config.wsgi import application
from console.api.access_tokens import make_token
from console.api.scopes import SCOPES
from console.api.site_api import api
from tests.console.addresses import GUARDED
from tests.hostile import DIGITS, IN_JSON, OTHER_JSON

DESCRIPTION = api.get_openapi_schema()
CALLS = [(path, method, call) for path, calls in DESCRIPTION["paths"].items() for method, call in calls.items()]
KNOWN = {
    **{"collection": "zoo", "sample": "sample", "queries": "sample", "pool": "pool", "round": "open", "version": "v1"},
    **{"annotator": "overlap", "annotators": ["overlap"], "retrievals": [1], "rounds": ["done"], "kind": "overlap"},
    **{"ceiling": "10", "reward": "0.65", "channel": "browser", "images": 2, "captions": 2, "source": "other"},
}
"""What a call takes for the rows of the site, by the name of the parameter."""
USUAL = {"string": "new", "integer": 1, "number": 0.5, "boolean": False, "array": [], "object": {}, "null": None}
UNREADABLE = IN_JSON["half a pair"]  # what else the reader of all bodies refuses: tests/core/test_untrusted.py
OF_NUMBERS = [OTHER_JSON[name] for name in ("64 bits", "half", "null")]
OF_OTHERS = [OTHER_JSON["null"]]
TOO_LARGE = {"sqlite": "9223372036854775808", "postgresql": "2147483648"}[connection.vendor]
"""A number that no column of this database holds."""
NUL = "a\0b"
NAMES_IN_ADDRESSES = re.compile(r'GET(?:\.get(?:list)?\(|\[)"(\w+)"')


@pytest.fixture(scope="module")
def program(addresses_of_the_site) -> Client:
    """A program of an admin's, with all scopes."""
    owner = User.objects.create_user("program")
    owner.groups.add(Group.objects.get(name="admin"))
    headers = {"Authorization": f"Bearer {make_token(owner, 'a program', [*SCOPES])[1]}", "Idempotency-Key": "k"}
    return Client(raise_request_exception=False, headers=headers)


@pytest.fixture
def quiet(db, settings, monkeypatch):
    settings.API_CALLS_PER_MINUTE = 10**9
    monkeypatch.setattr("core.work.jobs.send", lambda job: None)  # the jobs wait
    monkeypatch.setattr(getLogger("django.request"), "disabled", True)  # thousands of refusals


def status(send, *arguments: Any, **options: Any) -> int:
    """The status of an answer; what it changed is taken back."""
    block = transaction.atomic()
    block._from_testcase = True  # code under test still has to open a transaction of its own
    with block:
        found = send(*arguments, **options).status_code
        transaction.set_rollback(True)
    return found


def fields_of(call: dict) -> dict[str, dict]:
    """The fields of a call's body, each with its description."""
    schema = call.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    if "$ref" in schema:
        schema = DESCRIPTION["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema.get("properties", {})


def is_number(described: dict) -> bool:
    return re.search("integer|number", json.dumps(described)) is not None


def usual(described: dict) -> Any:
    if "default" in described:
        return described["default"]
    if "enum" in described:
        return described["enum"][0]
    kind = described.get("type", "string")
    return USUAL[kind if isinstance(kind, str) else kind[0]]


def place(path: str) -> str:
    return re.sub(r"{(\w+)}", lambda found: str(KNOWN.get(found[1], {"name": "open"}.get(found[1], 1))), path)


def body_with(value: bytes, fields: dict[str, Any], replaced: Iterable[str]) -> bytes:
    """A body with the value in place of some of its fields."""
    mark = "here is the value"
    marked = {name: [mark] if isinstance(fields[name], list) else mark for name in replaced}
    return json.dumps(fields | marked).encode().replace(f'"{mark}"'.encode(), value)


def odd_bodies(call: dict) -> Iterator[bytes]:
    """Bodies with an odd value in place of one field after another."""
    described = fields_of(call)
    fields = {name: KNOWN.get(name, usual(described[name])) for name in described}
    for name in fields:
        for value in OF_NUMBERS if is_number(described[name]) else OF_OTHERS:
            yield body_with(value, fields, [name])


def odd_addresses(path: str, call: dict) -> Iterator[str]:
    """Addresses with an odd text in place of one parameter after another, or of all names in the path."""
    queries = [parameter["name"] for parameter in call["parameters"] if parameter["in"] == "query"]
    yield f"{place(path)}?{urlencode(dict.fromkeys(queries, NUL))}"
    yield from (f"{place(path)}?{urlencode({name: TOO_LARGE})}" for name in queries)
    if "{" in path:
        yield from (re.sub(r"{\w+}", quote(text, safe=""), path) for text in (NUL, DIGITS, TOO_LARGE))


@pytest.mark.parametrize(("path", "method", "call"), CALLS, ids=[call["operationId"] for _, _, call in CALLS])
def test_no_call_fails_or_stores_what_cannot_be_stored(quiet, program, path, method, call):
    send = partial(status, getattr(program, method))
    post = partial(send, place(path), content_type="application/json")
    fields = fields_of(call)
    assert not fields or post(data=body_with(UNREADABLE, dict.fromkeys(fields), fields)) in (400, 404, 422)
    answered = {body[:200]: post(data=body) for body in odd_bodies(call)}
    answered |= {address[:200]: send(address) for address in odd_addresses(path, call)}
    assert {what: code for what, code in answered.items() if code >= 500} == {}


@pytest.mark.parametrize("asked", [f"bytes={DIGITS}-", f"bytes=0-{DIGITS}", f"bytes=-{DIGITS}", "bytes=٣-", "bytes=-0"])
def test_no_part_of_a_file_is_too_far_away(quiet, program, asked):
    answer = program.get("/api/v1/versions/v1/files/pairs.csv", headers={"Range": asked})
    assert answer.status_code in (200, 206, 416)


class Fields(HTMLParser):
    """Collects the names of a page's fields, and of those that take files."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.files: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        name = attributes.get("name")
        if tag in ("input", "textarea", "select", "button") and name:
            (self.files if attributes.get("type") == "file" else self.names).add(name)


@pytest.fixture(scope="module")
def admin(addresses_of_the_site) -> Client:
    user = User.objects.create_user("reader")
    user.groups.add(*Group.objects.all())
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


@cache
def names_in_addresses() -> list[str]:
    sources = [path.read_text("utf-8") for path in Path(settings.BASE_DIR, "console").rglob("*.py")]
    return sorted({name for text in sources for name in NAMES_IN_ADDRESSES.findall(text)} - {"go"})


@pytest.mark.parametrize("name", sorted(GUARDED))
def test_no_page_fails(quiet, admin, addresses_of_the_site, name):
    address = addresses_of_the_site[name]
    page = admin.get(address)
    found = Fields()
    if page.headers.get("Content-Type", "").startswith("text/html"):
        found.feed(page.content.decode())
    fields = found.names - {"csrfmiddlewaretoken"} or {"reason", "kind"}
    files = found.files if found.names else {"file"}
    names = {*names_in_addresses(), *fields}

    def ask(text: str) -> int:
        return status(admin.get, address, dict.fromkeys(names, text))

    def fill(text: str) -> int:
        uploads = {field: SimpleUploadedFile(f"{text}.json", b"{}") for field in files}
        return status(admin.post, address, dict.fromkeys(fields, text) | uploads)

    assert (ask(NUL), fill(NUL) in (400, 405)) == (404, True)
    # A view that refuses a method reads nothing that is sent with it.
    asked = [TOO_LARGE] if page.status_code != 405 else []
    filled = [TOO_LARGE, "1e999"] if status(admin.post, address) != 405 else []
    failed = {("address", text): code for text in asked if (code := ask(text)) >= 500}
    failed |= {("form", text): code for text in filled if (code := fill(text)) >= 500}
    assert failed == {}


@pytest.mark.parametrize("charset", ["hex", "utf-7", "utf-16", "undefined", "idna", "latin-1"])
@pytest.mark.parametrize("address", ["/login/?next=/", "/judge/me/x/?no=1", "/api/v1/jobs?limit=1"])
def test_text_in_another_encoding_is_refused(quiet, client, charset, address):
    kind = f"application/x-www-form-urlencoded; charset={charset}"
    made = RequestFactory().post(address, b"a=+2AA-", content_type=kind.replace(charset, "utf-8"))
    statuses = [
        application(made.environ | {"CONTENT_TYPE": kind, "REQUEST_METHOD": method}, lambda *_: None).status_code
        for method in ("GET", "POST")
    ]
    assert 400 in statuses
    assert set(statuses) <= {400, 405}


def test_a_cookie_that_cannot_be_stored_is_none(quiet, client):
    client.cookies.load(f'{settings.SESSION_COOKIE_NAME}="abcdefgh\\000"')
    assert client.get("/").status_code == 302
