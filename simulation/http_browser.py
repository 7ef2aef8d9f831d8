"""A browser without scripts: httpx fetches pages and sends forms, lxml reads them."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, cached_property
from ssl import SSLContext
from typing import Any

import httpx
import lxml.html
from lxml.html import FormElement, HtmlElement

from core.errors import CounterpartError

TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class Page:
    """The answer of an address, after redirects. All links in it are absolute."""

    url: str
    html: str
    status: int = 200

    @cached_property
    def tree(self) -> HtmlElement:
        tree = lxml.html.document_fromstring(self.html or "<html></html>")
        tree.make_links_absolute(self.url)
        for form in tree.forms:
            form.action = form.action or self.url
        return tree

    @property
    def heading(self) -> str:
        return " ".join(" ".join(heading.text_content() for heading in self.tree.iter("h1")).split())

    @property
    def forms(self) -> list[FormElement]:
        return list(self.tree.forms)

    @property
    def frames(self) -> list[str]:
        """The addresses of the pages in its frames."""
        return [frame.get("src") for frame in self.tree.iter("iframe")]

    def form_to(self, ending: str) -> FormElement:
        """Return the form whose action ends with ``ending``. Raises CounterpartError if there is none."""
        for form in self.forms:
            if form.action.endswith(ending):
                return form
        raise CounterpartError(f"The page {self.url} ({self.heading}) has no form to {ending}. Is it the right site?")


class Browser:
    """A browser with cookies of its own. Safe to use in several threads.

    ``refusals`` are error statuses whose pages are returned; every other error status, and a site that does not
    answer, raises CounterpartError.
    """

    def __init__(self, *, transport: httpx.BaseTransport | None = None) -> None:
        self._client = httpx.Client(
            transport=transport or make_transport(), timeout=TIMEOUT_SECONDS, follow_redirects=True
        )

    def fetch(self, url: str, *, refusals: tuple[int, ...] = ()) -> Page:
        return self._page("GET", url, refusals)

    def send(
        self, form: FormElement, fields: Mapping[str, str] | None = None, *, refusals: tuple[int, ...] = ()
    ) -> Page:
        """Post ``form`` with ``fields`` filled in. Raises CounterpartError for an unknown field or choice."""
        return self._page("POST", form.action, refusals, data=filled_in(form, fields or {}))

    def press(self, form: FormElement, name: str, value: str, *, refusals: tuple[int, ...] = ()) -> Page:
        """Post ``form`` by the button with this name and value. Raises CounterpartError if there is none."""
        if not form.xpath(".//button[@name=$name and @value=$value]", name=name, value=value):
            raise CounterpartError(f"The form to {form.action} has no button {name}={value}. Is it the right site?")
        return self._page("POST", form.action, refusals, data=filled_in(form, {}) | {name: value})

    def send_json(self, url: str, content: Mapping[str, Any]) -> None:
        """Post JSON. Raises CounterpartError for an error status."""
        answer = self._answer("POST", url, json=content)
        if answer.is_error:
            raise CounterpartError(f"{url} answered {answer.status_code}: {' '.join(answer.text.split())}")

    def _page(self, method: str, url: str, refusals: tuple[int, ...], **sent: Any) -> Page:
        answer = self._answer(method, url, **sent)
        page = Page(str(answer.url), answer.text, answer.status_code)
        if answer.is_error and answer.status_code not in refusals:
            raise CounterpartError(f"The site answered {page.status} at {page.url}: {page.heading or 'no page'}.")
        return page

    def _answer(self, method: str, url: str, **sent: Any) -> httpx.Response:
        try:
            return self._client.request(method, url, **sent)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise CounterpartError(f"Nothing answers at {url} ({error}). Start the site.") from error


def filled_in(form: FormElement, fields: Mapping[str, str]) -> dict[str, str]:
    """Return what ``form`` sends with ``fields`` over its own values. Raises CounterpartError for a field or choice
    that it does not have. The form itself is not changed: a page's form may be sent several times."""
    form = deepcopy(form)
    for name, value in fields.items():
        try:
            form.fields[name] = value
        except (KeyError, ValueError) as error:
            raise CounterpartError(f"The form to {form.action} has no {name}={value}. Is it the right site?") from error
    return dict(form.form_values())


def make_transport() -> httpx.HTTPTransport:
    """Return a transport that keeps no connections: a server may close them without notice."""
    return httpx.HTTPTransport(verify=_tls(), limits=httpx.Limits(max_keepalive_connections=0))


class Detour(httpx.BaseTransport):
    """Sends requests for the address ``seen`` to ``answers``: workers see a site at another address than programs."""

    def __init__(self, seen: str, answers: str) -> None:
        self._seen = httpx.URL(seen)
        self._answers = httpx.URL(answers)
        self._transport = make_transport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        if url.netloc == self._seen.netloc:
            url = url.copy_with(scheme=self._answers.scheme, host=self._answers.host, port=self._answers.port)
        # Keeps the Host header, because cookies and links belong to the address that workers see.
        carried = httpx.Request(
            request.method, url, headers=request.headers, stream=request.stream, extensions=request.extensions
        )
        return self._transport.handle_request(carried)


@cache
def _tls() -> SSLContext:
    return httpx.create_ssl_context()
