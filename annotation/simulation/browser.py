"""A browser without scripts and cookies: it fetches a page, reads its forms, fills one in and sends it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urljoin
from urllib.request import Request, urlopen

from journal.errors import CounterpartError

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
    """What an address answered in the end, after redirections."""

    url: str
    heading: str
    forms: list[Form]

    def form_to(self, ending: str) -> Form:
        """Return the form whose action ends so. Raises CounterpartError if there is none."""
        for form in self.forms:
            if form.action.endswith(ending):
                return form
        raise CounterpartError(f"The page {self.url} ({self.heading}) has no form to {ending}; is it the right site?")


def fetch(url: str) -> Page:
    """Get the page. Raises CounterpartError for an answer of 400 or above, or none at all."""
    return _answered(Request(url))  # noqa: S310  http or https: the door checks


def send(form: Form, **filled: str) -> Page:
    """Post ``form`` with ``filled`` over its own values.

    Raises CounterpartError as ``fetch`` does, and for a value that the form does not offer.
    """
    for name, value in filled.items():
        if name not in form.offers or (form.offers[name] and value not in form.offers[name]):
            raise CounterpartError(f"The form to {form.action} does not offer {name}={value}; is it the right site?")
    return _answered(Request(form.action, data=urlencode({**form.values, **filled}).encode()))  # noqa: S310


def _answered(request: Request) -> Page:
    try:
        with urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310
            return read_page(answer.url, answer.read().decode())
    except HTTPError as error:
        said = read_page(request.full_url, error.read().decode(errors="replace")).heading
        raise CounterpartError(f"The site answered {error.code} at {request.full_url}: {said or 'no page'}.") from error
    except URLError as error:
        raise CounterpartError(f"Nobody answers at {request.full_url} ({error.reason}); start the site.") from error


def read_page(url: str, html: str) -> Page:
    reader = _Reader(url)
    reader.feed(html)
    return Page(url, " ".join(reader.heading.split()), reader.forms)


class _Reader(HTMLParser):
    """Collects the forms of a page and its headings."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.forms: list[Form] = []
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
