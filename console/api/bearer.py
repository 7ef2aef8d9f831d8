"""The middleware that reads the token of each call, and the check of its scope at an operation."""

from time import time
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from console.api.access_tokens import find_token, may_come_from, note_use
from console.api.problems import MEDIA_TYPE, Problem, as_problem
from console.api.scopes import SCOPES
from console.permissions import Guard
from core.web.middleware import GetResponse
from core.web.throttles import client_address, count
from integrations.models import Token

WRONG_TOKENS = 20
WRONG_SECONDS = 900
MINUTE = 60


class ApiRequest(HttpRequest):
    """A call: ``user`` is the owner of its token."""

    user: User
    token: Token


def bearer(get_response: GetResponse) -> GetResponse:
    """Let calls act for the owner of their token, whoever is logged in. Answer errors as problems, not as pages."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        found = _read_token(request)
        request.refusal = found if isinstance(found, Problem) else None  # type: ignore[attr-defined]
        request.token = found if isinstance(found, Token) else None  # type: ignore[attr-defined]
        request.user = found.owner if isinstance(found, Token) else AnonymousUser()
        response: Any = get_response(request)
        if response.status_code >= 400 and response.get("Content-Type") != MEDIA_TYPE:
            response = as_problem(response)
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response

    return answer


def _read_token(request: HttpRequest) -> Token | Problem | None:
    """Return the valid token of a call, None if it has none, or why it is refused."""
    kind, _, text = request.headers.get("Authorization", "").partition(" ")
    if not text:
        return None
    token = find_token(text.strip()) if kind.lower() == "bearer" else None
    address = client_address(request)
    if token is None:
        return _refused_wrong(address)
    if token.state != "valid":
        return _unauthorised(f"This token is {token.state}. Make another one on the page API.")
    if not token.owner.is_active:
        return _unauthorised("The account of this token is deactivated.")
    if not may_come_from(token, address):
        return Problem(403, f"This token may not be used from {address or 'an unknown address'}.")
    left = MINUTE - int(time()) % MINUTE
    if count(f"api:calls:{token.identifier}:{int(time()) // MINUTE}", MINUTE) > settings.API_CALLS_PER_MINUTE:
        sentence = f"More than {settings.API_CALLS_PER_MINUTE:,} calls in a minute. Wait {left} s."
        return Problem(429, sentence, {"Retry-After": str(left)})
    note_use(token)
    return token


def _refused_wrong(address: str | None) -> Problem:
    """Return why a wrong token is refused. They are counted by address; a valid token from there still passes."""
    if count(f"api:wrong:{address}", WRONG_SECONDS) > WRONG_TOKENS:
        return Problem(429, "Too many wrong tokens. Wait 15 minutes.", {"Retry-After": str(WRONG_SECONDS)})
    return _unauthorised("Unknown token. Make one on the page API.")


def _unauthorised(sentence: str) -> Problem:
    return Problem(401, sentence, {"WWW-Authenticate": "Bearer"})


class Bearer:
    """Lets in calls whose token has the scope, while the owner's role allows it."""

    openapi_type = "http"
    openapi_security_schema = {  # noqa: RUF012
        "type": "http",
        "scheme": "bearer",
        "description": "A token of the page API, as cp_….",
    }

    def __init__(self, scope: str | None, guard: Guard | None = None) -> None:
        self.scope = scope
        self._guard = guard

    def __call__(self, request: Any) -> Token:
        if request.refusal:
            raise request.refusal
        token: Token | None = request.token
        if token is None:
            raise _unauthorised("Send a token, as in “Authorization: Bearer cp_…”. The page API makes one.")
        if self.scope and self.scope not in token.scopes:
            raise Problem(403, f"This token does not have the scope {self.scope}.")
        if (self.scope and not SCOPES[self.scope].suits(token.owner)) or (
            self._guard and not self._guard.may(token.owner)
        ):
            raise Problem(403, f"The role of {token.owner} does not allow this call.")
        token.owner.asks_with = {"token": token.pk, "scope": self.scope}  # type: ignore[attr-defined]  # core.work.authority
        return token
