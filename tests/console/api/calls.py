"""Calls of the API in tests: a caller with a token, as a program has one."""

import json
from base64 import b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from urllib.parse import urlencode
from uuid import uuid4

from django.contrib.auth.models import Group, User
from django.http import HttpResponse
from django.test import Client

from console.api.access_tokens import make_token
from console.api.scopes import scopes_of
from integrations.models import Token

API = "/api/v1"


@dataclass
class Caller:
    """A program with a token."""

    token: Token
    text: str
    client: Client = field(default_factory=lambda: Client(raise_request_exception=False))

    def get(self, path: str, **more) -> HttpResponse:
        return self.client.get(f"{API}{path}", headers=self._headers(), **more)

    def head(self, path: str) -> HttpResponse:
        return self.client.head(f"{API}{path}", headers=self._headers())

    def post(self, path: str, body: object = None, *, key: str | None = None, **more) -> HttpResponse:
        """Send a body with an Idempotency-Key of its own, or with this ``key``."""
        headers = self._headers() | {"Idempotency-Key": key or uuid4().hex}
        content = json.dumps({} if body is None else body)
        return self.client.post(f"{API}{path}", content, content_type="application/json", headers=headers, **more)

    def send(self, content: bytes, name: str, *, digest: bytes | None = None, **more) -> HttpResponse:
        """Upload a file, with the digest of its bytes or this one (SHA-256)."""
        encoded = b64encode(digest or sha256(content).digest()).decode()
        headers = self._headers() | {"Idempotency-Key": uuid4().hex, "Content-Digest": f"sha-256=:{encoded}:"}
        kind = "application/octet-stream"
        path = f"{API}/uploads?{urlencode({'name': name})}"
        return self.client.post(path, content, content_type=kind, headers=headers | more.pop("headers", {}), **more)

    def delete(self, path: str) -> HttpResponse:
        return self.client.delete(f"{API}{path}", headers=self._headers())

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.text}"}


def caller_for(user: User, *scopes: str) -> Caller:
    """Make a token of the user with these scopes, or with all that the role allows."""
    return Caller(*make_token(user, "a program", scopes or scopes_of(user)))


def caller_of(role: str, *scopes: str, name: str = "a-programmer") -> Caller:
    """A program of a new person who has the role; of none for a role that is not there."""
    owner = User.objects.create_user(name)
    owner.groups.set(Group.objects.filter(name=role))
    return caller_for(owner, *scopes)


def problem(response) -> str:
    """The sentence of a refusal."""
    assert response["Content-Type"] == "application/problem+json"
    answer = response.json()
    assert answer["status"] == response.status_code
    return answer["detail"]


def check_refused(response, status: int, sentence: str) -> None:
    """Fail unless the call was refused with this status, and a sentence that holds this one."""
    assert response.status_code == status
    assert sentence in problem(response)


def all_parts(caller: Caller, path: str, limit: int) -> list[list[dict]]:
    """The parts of a list; the path ends where its query goes on."""
    parts, after = [], ""
    while after is not None:
        answer = caller.get(f"{path}limit={limit}&after={after}").json()
        parts.append(answer["results"])
        after = answer["next"]
    return parts
