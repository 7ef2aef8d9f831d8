"""The door through the site's own pages: join, consent, take a HIT, fill its form in, submit."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.core.signing import BadSignature
from django.urls import Resolver404, ResolverMatch, resolve, reverse

from annotation.answers import Answer
from annotation.judging.links import read_assignment_token
from annotation.models import Assignment
from core.errors import CounterpartError
from hits.models import Round
from simulation.browser import Browser, Form, Page
from simulation.filling import Places, filled_with, places_in


class PagesDoor:
    """Workers of the channel ``browser``, over HTTP: a site that runs on this database and secret key."""

    def __init__(self, round: Round, site: str) -> None:
        if urlsplit(site).scheme not in ("http", "https"):
            raise CounterpartError(f"{site} is no address of a site; write it as in http://127.0.0.1:8000.")
        self._join = site.rstrip("/") + reverse("judging:join", args=[round.join_key])
        self._places = places_in(round)
        # One for each person: the site remembers by a cookie who has joined.
        self._browsers: dict[int, Browser] = {}
        self._take: dict[int, Form] = {}

    def lease(self, person: int) -> "PageTurn | None":
        browser = self._browsers.setdefault(person, Browser())
        if person not in self._take:
            self._take[person] = self._consent(browser)
        page = browser.send(self._take[person])
        if _view_of(page).view_name != "judging:task":
            return None
        return PageTurn(page, _assignment_of(page), browser, self._places)

    def _consent(self, browser: Browser) -> Form:
        joining = browser.fetch(self._join)
        agreeing = next((form for form in joining.forms if "consent" in form.offers), None)
        if agreeing is None:
            raise CounterpartError(f"The page {self._join} ({joining.heading}) asks for no consent; is the round open?")
        return browser.send(agreeing, {"consent": "yes"}).form_to("/take/")


@dataclass(frozen=True)
class PageTurn:
    """A HIT's page with its form."""

    page: Page
    assignment: Assignment
    browser: Browser
    places: Places

    def submit(self, answers: Sequence[Answer], *, active_seconds: int) -> None:
        """Fill in and send the form."""
        filled = filled_with(answers, self.places, active_seconds=active_seconds)
        shown = self.browser.send(self.page.form_to(urlsplit(self.page.url).path), filled)
        if _view_of(shown).view_name != "judging:receipt":
            raise CounterpartError(f"The site gave no receipt at {shown.url} ({shown.heading}); look at the round.")


def _view_of(page: Page) -> ResolverMatch:
    try:
        return resolve(urlsplit(page.url).path)
    except Resolver404 as error:
        raise CounterpartError(
            f"The site led to {page.url}, which is no page of ours; is it the right site?"
        ) from error


def _assignment_of(page: Page) -> Assignment:
    try:
        return Assignment.objects.get(pk=read_assignment_token(_view_of(page).kwargs["token"]))
    except (BadSignature, Assignment.DoesNotExist) as error:
        raise CounterpartError("The site runs on another database or secret key; simulate on its machine.") from error
