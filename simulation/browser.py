"""A browser without scripts: it fetches a page, reads its forms and frames, fills a form in and sends it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from ssl import SSLContext
from typing import Any
from urllib.parse import urljoin

import httpx

from core.errors import CounterpartError

TIMEOUT_SECONDS = 60


@dataclass
class Form:
    """``action`` is absolute; ``values`` are what it would send untouched; ``offers`` what a field may be.

    A field that offers an empty list may be anything.
    """

    action: str
    values: dict[str, str] = field(default_factory=dict)
    offers: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """What an address answered in the end, after redirections. ``frames`` are the addresses of the pages in it."""

    url: str
    heading: str
    forms: list[Form]
    frames: list[str] = field(default_factory=list)
    status: int = 200

    def form_to(self, ending: str) -> Form:
        """Return the form whose action ends so. Raises CounterpartError if there is none."""
        for form in self.forms:
            if form.action.endswith(ending):
                return form
        raise CounterpartError(f"The page {self.url} ({self.heading}) has no form to {ending}; is it the right site?")


class Browser:
    """One profile, with cookies of its own. ``refusals`` are answers of 400 and above that are pages like others.

    All methods raise CounterpartError for any other such answer, and for none at all. Safe to use in several threads.
    """

    def __init__(self, *, transport: httpx.BaseTransport | None = None) -> None:
        self._client = httpx.Client(
            transport=transport or make_transport(), timeout=TIMEOUT_SECONDS, follow_redirects=True
        )

    def fetch(self, url: str, *, refusals: tuple[int, ...] = ()) -> Page:
        """Get the page."""
        return self._page("GET", url, refusals)

    def send(self, form: Form, filled: Mapping[str, str] | None = None, *, refusals: tuple[int, ...] = ()) -> Page:
        """Post ``form`` with ``filled`` over its own values. Raises CounterpartError for what it does not offer."""
        for name, value in (filled := filled or {}).items():
            if name not in form.offers or (form.offers[name] and value not in form.offers[name]):
                raise CounterpartError(
                    f"The form to {form.action} does not offer {name}={value}; is it the right site?"
                )
        return self._page("POST", form.action, refusals, data={**form.values, **filled})

    def tell(self, url: str, told: Mapping[str, Any]) -> Mapping[str, Any]:
        """Post JSON to a program and return the JSON that it answers."""
        answer = self._answer("POST", url, json=told)
        if answer.is_error:
            raise CounterpartError(
                f"The program at {url} answered {answer.status_code}: {' '.join(answer.text.split())}"
            )
        return dict(answer.json())

    def _page(self, method: str, url: str, refusals: tuple[int, ...], **sent: Any) -> Page:
        answer = self._answer(method, url, **sent)
        page = read_page(str(answer.url), answer.text, status=answer.status_code)
        if answer.is_error and answer.status_code not in refusals:
            raise CounterpartError(f"The site answered {page.status} at {page.url}: {page.heading or 'no page'}.")
        return page

    def _answer(self, method: str, url: str, **sent: Any) -> httpx.Response:
        try:
            return self._client.request(method, url, **sent)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise CounterpartError(f"Nobody answers at {url} ({error}); start the site.") from error


def make_transport() -> httpx.HTTPTransport:
    """Return what carries requests. It keeps no connection, as a server may cut one unheard."""
    return httpx.HTTPTransport(verify=_tls(), limits=httpx.Limits(max_keepalive_connections=0))


class Detour(httpx.BaseTransport):
    """Carries requests for ``seen`` to ``answers``: a site that people see at another address than programs here do."""

    def __init__(self, seen: str, answers: str) -> None:
        self._seen, self._answers = httpx.URL(seen), httpx.URL(answers)
        self._transport = make_transport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        if url.netloc == self._seen.netloc:
            url = url.copy_with(scheme=self._answers.scheme, host=self._answers.host, port=self._answers.port)
        # A new request with the old one's Host: cookies and links are those of the address that people see.
        carried = httpx.Request(
            request.method, url, headers=request.headers, stream=request.stream, extensions=request.extensions
        )
        return self._transport.handle_request(carried)


@cache
def _tls() -> SSLContext:
    return httpx.create_ssl_context()


def read_page(url: str, html: str, *, status: int = 200) -> Page:
    reader = _Reader(url)
    reader.feed(html)
    return Page(url, " ".join(reader.heading.split()), reader.forms, reader.frames, status)


class _Reader(HTMLParser):
    """Collects the forms and frames of a page and its headings."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.frames: list[str] = []
        self.heading = ""
        self._url = url
        self._form: Form | None = None
        self._in_heading = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._in_heading = self._in_heading or tag == "h1"
        if tag == "form":
            self._form = Form(urljoin(self._url, given.get("action", "")))
            self.forms.append(self._form)
        elif tag == "iframe":
            self.frames.append(urljoin(self._url, given.get("src", "")))
        elif tag == "input" and self._form and given.get("name"):
            _take_field(self._form, given)

    def handle_endtag(self, tag: str) -> None:
        self._in_heading = self._in_heading and tag != "h1"
        self._form = None if tag == "form" else self._form

    def handle_data(self, data: str) -> None:
        if self._in_heading:
            self.heading += data


def _take_field(form: Form, given: Mapping[str, str]) -> None:
    name, value = given["name"], given.get("value", "")
    offers = form.offers.setdefault(name, [])
    choosable = given.get("type") in ("radio", "checkbox")
    if choosable:
        offers.append(value)
    if not choosable or "checked" in given:
        form.values[name] = value
