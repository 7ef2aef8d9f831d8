"""Prolific's environments and the client of each; every error becomes a ChannelError that says whether the call had an
effect.

Source: Prolific's OpenAPI description of July 2026. No call is repeated here: only the outbox repeats one, and only
after reading back what the last attempt did. httpx is imported where it is used: it takes a tenth of a second of the
start of every command.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from django.conf import settings

from core.site.environment import env, is_local
from core.untrusted import whole_number
from crowd.channels.base import ChannelError
from crowd.channels.marketplaces import invalid, is_near

if TYPE_CHECKING:
    import httpx

NAMES = ("emulator", "live")
DESCRIPTIONS = {
    "emulator": "A rehearsal on this machine: simulated participants, no money.",
    "live": "Real participants, and real money from the workspace's wallet.",
}
EMULATED_TOKEN = "emulated-prolific-token"  # noqa: S105  opens nothing
API = "https://api.prolific.com"
SITE = "https://app.prolific.com"

THROTTLED_PAUSE = timedelta(seconds=20)
FUNDS_PAUSE = timedelta(minutes=10)
TIMEOUT = 30  # seconds
CONNECT_TIMEOUT = 5  # seconds
# Payments contend for the wallet, and a state may be changing. What such a call did is read back before a retry.
CONTENDED = (409, 422, 423)
MOST_PAGES = 10_000


@dataclass(frozen=True)
class Environment:
    """The API, the site where participants finish, the token of the account and the workspace that pays."""

    name: str
    api: str
    site: str
    token: str = field(repr=False)
    workspace: str


class ProlificError(ChannelError):
    """Prolific refused or failed a call. ``code``: the status of its reply."""


class Client:
    """The API in one environment."""

    def __init__(self, environment: Environment, *, transport: "httpx.BaseTransport | None" = None) -> None:
        import httpx

        self.environment = environment
        self._http = httpx.Client(
            base_url=f"{environment.api}/api/v1/",
            headers={"Authorization": f"Token {environment.token}"},
            timeout=httpx.Timeout(TIMEOUT, connect=CONNECT_TIMEOUT),
            transport=transport,
            trust_env=environment.name != "emulator",
        )

    def get(self, path: str, **params: str | int) -> Any:
        return self._call("GET", path, params=params)

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        return self._call("POST", path, json=dict(body or {}))

    def post_for_headers(self, path: str, body: Mapping[str, Any]) -> tuple[Any, Mapping[str, str]]:
        """Return what ``post`` returns, and the headers of the reply."""
        reply = self._send("POST", path, json=dict(body))
        return _json(reply), reply.headers

    def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        return self._call("PATCH", path, json=dict(body))

    def delete(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        return self._call("DELETE", path, json=body)

    def rows(self, path: str, key: str = "id", **params: str | int) -> list[dict[str, Any]]:
        """Return the rows of all pages of a list, each once by its ``key``. Pass ``page_size`` for a list that is
        documented to have pages: a full page then has a next one, even without a link to it.

        Raises ChannelError if rows moved from page to page meanwhile, so that one may be missing.
        """
        rows: dict[str, dict[str, Any]] = {}
        wanted = 0
        for page in self._pages(path, params):
            wanted = page.get("meta", {}).get("count", wanted)
            rows |= {row[key]: row for row in page["results"]}
        if len(rows) < wanted:
            raise ProlificError("Prolific's list changed while it was read; it is read again later.", reached=False)
        return list(rows.values())

    def _pages(self, path: str, params: Mapping[str, str | int]) -> Iterator[dict[str, Any]]:
        page = self.get(path, **params)
        for number in range(2, MOST_PAGES + 2):
            yield page
            links = page.get("_links") or {}
            following = (links.get("next") or {}).get("href")
            is_full = len(page["results"]) == params.get("page_size")
            try:
                if following:
                    page = self._call("GET", self._own_address(following))
                elif "next" not in links and is_full:
                    page = self.get(path, **params, page=number)
                else:
                    return
            except ProlificError as error:
                if error.code != "404":  # the page after a full last one may be named, but does not exist
                    raise
                return
        raise ProlificError(f"Prolific's list has more than {MOST_PAGES:,} pages.", reached=False, permanent=True)

    def _own_address(self, url: str) -> str:
        """Return the address if it is Prolific's own: the token is sent to no other site, whatever a reply names."""
        if not url.startswith(f"{self.environment.api}/"):
            raise ProlificError("Prolific's list goes on at another site.", reached=False, permanent=True)
        return url

    def _call(self, method: str, path: str, **options: Any) -> Any:
        reply = self._send(method, path, **options)
        return _json(reply) if reply.content else None

    def _send(self, method: str, path: str, **options: Any) -> "httpx.Response":
        import httpx

        try:
            reply = self._http.request(method, path, **options)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            message = f"Prolific cannot be reached at {self.environment.api}. If that is its emulator, check that it is"
            raise ProlificError(f"{message} running.", reached=False) from error
        except httpx.HTTPError as error:
            lost = f"Prolific's response was lost: {type(error).__name__}."
            raise ProlificError(lost, reached=method != "GET") from error
        if reply.is_success:
            return reply
        raise _refusal(reply, method)


def environment_of(name: str) -> Environment:
    """Return the environment that the variables describe. Raises ChannelError unless it is allowed and complete, and
    the emulator is on this machine or a neighbour container."""
    if name not in NAMES:
        raise invalid(f"Prolific has no environment {name!r}: choose one of {', '.join(NAMES)}.")
    # By default only the emulator, and not even that on a site that others reach.
    if name not in env.list("PROLIFIC_ENVIRONMENTS", ["emulator"] if is_local(settings.SITE_URL) else []):
        raise invalid(f"Prolific's {name} is disabled. To enable it, add it to PROLIFIC_ENVIRONMENTS.")
    if name == "emulator":
        url = env.str("PROLIFIC_EMULATOR_URL", "http://127.0.0.1:8950").rstrip("/")
        if not is_near(url):
            raise invalid(f"PROLIFIC_EMULATOR_URL is {url}, which is not on this machine.")
        return Environment(name, url, env.str("PROLIFIC_EMULATOR_ORIGIN", url).rstrip("/"), EMULATED_TOKEN, "")
    token = env.str("PROLIFIC_TOKEN", "")
    workspace = env.str("PROLIFIC_WORKSPACE", "")
    if not (token and workspace):
        raise invalid("Prolific's live environment needs PROLIFIC_TOKEN and PROLIFIC_WORKSPACE.")
    return Environment(name, API, SITE, token, workspace)


def client_for(environment: str) -> Client:
    """Return the client for an environment. Raises ChannelError if it may not be used."""
    return _client(environment_of(environment))


@cache
def _client(environment: Environment) -> Client:
    return Client(environment)


def _json(reply: "httpx.Response") -> Any:
    try:
        return reply.json()
    except ValueError as error:
        raise ProlificError("Prolific's response was not JSON.", code=str(reply.status_code), reached=True) from error


def _refusal(reply: "httpx.Response", method: str) -> ProlificError:
    status = reply.status_code
    code = str(status)
    detail = _detail(reply)
    message = f"Prolific answered {status}: {detail}"
    if status == 429:
        return ProlificError(message, code=code, reached=False, retry_after=_pause(reply))
    if status >= 500 or status in CONTENDED:
        return ProlificError(message, code=code, reached=method != "GET")
    if status == 402 or (status == 400 and "enough funds" in detail.lower()):
        return ProlificError(message, code=code, reached=False, retry_after=FUNDS_PAUSE)
    return ProlificError(message, code=code, reached=False, permanent=True)


def _detail(reply: "httpx.Response") -> str:
    """Return the text of an error, which may be wrapped, and a text, a list, or lists by field."""
    try:
        body = reply.json()
    except ValueError:
        return "no details"
    error = body.get("error", body) if isinstance(body, dict) else body
    detail = error.get("detail", error.get("message", error)) if isinstance(error, dict) else error
    if isinstance(detail, dict):
        detail = [f"{name}: {' '.join(map(str, texts)) if isinstance(texts, list) else texts}"
                  for name, texts in detail.items()]  # fmt: skip
    return " ".join(map(str, detail)) if isinstance(detail, list) else str(detail)


def _pause(reply: "httpx.Response") -> timedelta:
    named = reply.headers.get("Retry-After", "")
    seconds = whole_number(named, below=10**6)
    return THROTTLED_PAUSE if seconds is None else timedelta(seconds=seconds)
