"""The doors to our own site: workers of the channel ``simulation`` lease and submit in this process, without pages;
those of the channel ``browser`` join, consent, take a HIT, fill in its form and submit through our pages over HTTP."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np
from lxml.html import FormElement

from annotation.judging.links import invitation_link
from annotation.models import Assignment, Invitation, Worker
from annotation.people.admission import join_round, make_invitations
from annotation.people.consent import give_consent
from annotation.people.workers import mark_simulated, worker_for
from annotation.work.answers import Answer
from annotation.work.leases import lease_seat
from annotation.work.submissions import submit_answers
from core.errors import CounterpartError
from hits.models import Round
from simulation.doors.base import OwnDoor, assignment_of, form_of, hit_page, view_of
from simulation.http_browser import Browser, Page
from simulation.simulated_workers import Reviewer


class DirectDoor(OwnDoor):
    """The same seed brings back the same workers."""

    def __init__(self, round: Round, reviewer: Reviewer, *, seed: int) -> None:
        super().__init__(round, reviewer)
        self._seed = seed
        self._workers: dict[int, Worker | None] = {}

    def take(self, person: int) -> "DirectTurn | None":
        worker = self._worker(person)
        if worker is None:
            return None
        give_consent(worker, self._round)  # to what the sheet says now
        assignment = lease_seat(self._round, worker=worker)
        return DirectTurn(self, assignment) if assignment else None

    def _worker(self, person: int) -> Worker | None:
        """Return a person as a worker who joined the round; None if it was full."""
        if person not in self._workers:
            name = f"{self._round.name}-{self._seed}-{person}"
            worker = worker_for(channel="simulation", external_id=name)
            mark_simulated(worker)
            self._workers[person] = worker if join_round(self._round, worker) else None
        return self._workers[person]


@dataclass(frozen=True)
class DirectTurn:
    """A leased assignment."""

    door: OwnDoor
    assignment: Assignment
    can_work = True

    @property
    def hit_id(self) -> int:
        return self.assignment.hit_id

    def finish(self, answers: Sequence[Answer], *, seconds: int, rng: np.random.Generator) -> bool:
        submit_answers(self.assignment, answers=answers, active_seconds=seconds)
        return self.door.review(self.assignment.pk, rng)


class PagesDoor(OwnDoor):
    """Workers of the channel ``browser``, at a running site that uses this database and secret key."""

    def __init__(self, round: Round, reviewer: Reviewer, *, site: str) -> None:
        super().__init__(round, reviewer)
        if urlsplit(site).scheme not in ("http", "https"):
            raise CounterpartError(f"Invalid address {site}: write it as in http://127.0.0.1:8000.")
        self._site = site.rstrip("/")
        # One for each person, because the site knows workers by a cookie.
        self._browsers: dict[int, Browser] = {}
        self._take: dict[int, FormElement] = {}

    def take(self, person: int) -> "PageTurn | None":
        browser = self._browsers.setdefault(person, Browser())
        if person not in self._take:
            self._take[person] = self._consent(browser)
        page = browser.send(self._take[person])
        if changed := next((form for form in page.forms if "consent" in form.fields), None):
            page = browser.send(changed, {"consent": "yes"})
        page = hit_page(page)
        if view_of(page).view_name != "judging:task":
            return None
        return PageTurn(self, assignment_of(page), browser, page)

    def _consent(self, browser: Browser) -> FormElement:
        """Join by an invitation, as many people who come from one address cannot join by the link."""
        if not self._take:
            browser.fetch(f"{self._site}/login/")  # A wrong address makes no invitation.
        (invitation,) = make_invitations(self._round, 1, by="simulation")
        page = browser.fetch(self._site + urlsplit(invitation_link(invitation)).path)
        form = next((form for form in page.forms if "consent" in form.fields), None)
        if form is None:
            raise CounterpartError(f"The page {page.url} ({page.heading}) has no consent form; is the round open?")
        home = browser.send(form, {"consent": "yes"})
        if worker := Invitation.objects.get(pk=invitation.pk).used_by:
            mark_simulated(worker)
        return home.form_to("/take/")


@dataclass(frozen=True)
class PageTurn(DirectTurn):
    """A leased assignment on its page, with its form."""

    browser: Browser
    page: Page

    def finish(self, answers: Sequence[Answer], *, seconds: int, rng: np.random.Generator) -> bool:
        form = self.page.form_to(urlsplit(self.page.url).path)
        shown = self.browser.send(form, form_of(self.assignment, answers, seconds=seconds))
        if view_of(shown).view_name != "judging:receipt":
            raise CounterpartError(f"The site gave no receipt at {shown.url} ({shown.heading}). Check the round.")
        return self.door.review(self.assignment.pk, rng)
