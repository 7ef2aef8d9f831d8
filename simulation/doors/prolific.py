"""Prolific's participants' site as our emulator serves it: reserve a place, open the study, end by its code."""

from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import blake2b
from urllib.parse import urlencode

from lxml.html import FormElement

from crowd.channels.prolific.client import environment_of
from crowd.channels.prolific.studies import time_limit_of
from hits.models import Round
from simulation.doors.conduct import TURNED_AWAY, agreed, is_sheet
from simulation.http_browser import Browser, Detour, Page, filled_in

REFUSED = (409,)
FINISH = "/submissions/complete"


class ProlificSite:
    """The emulator that a round is posted on. Raises ChannelError if it cannot be used."""

    profile = "participants"

    def __init__(self, round: Round) -> None:
        environment = environment_of(round.environment)
        self.address = environment.site
        self.longest_turn = timedelta(minutes=time_limit_of(round))
        self._transport = Detour(self.address, environment.api)

    @staticmethod
    def worker_id(name: str) -> str:
        """Return the id of this name, always the same and formed as Prolific's ids are."""
        return blake2b(name.encode(), digest_size=12).hexdigest()

    def visit(self, worker_id: str) -> "ProlificVisitor":
        """Sign a participant in whom every study admits."""
        browser = Browser(transport=self._transport)
        form = browser.fetch(f"{self.address}/sign-in").form_to("/register")
        browser.send(form, {"participant_id": worker_id})
        return ProlificVisitor(self, worker_id, browser)

    def forward(self, by: timedelta) -> None:
        """Move the emulator's clock on."""
        url = f"{self.address}/_emulator/clock"
        Browser(transport=self._transport).send_json(url, {"forward_seconds": by.total_seconds()})


@dataclass(frozen=True)
class ProlificVisitor:
    """A participant with a browser: studies open in a tab of their own, next to Prolific's pages."""

    site: ProlificSite
    worker_id: str
    browser: Browser

    def offers(self) -> dict[str, FormElement]:
        """Return the forms that reserve a place, by the studies' ids."""
        forms = self.browser.fetch(f"{self.site.address}/studies/").forms
        return {form.action.split("/")[-2]: form for form in forms if form.action.endswith("/reserve")}

    def offer_of(self, posting_id: str) -> FormElement | None:
        """A study that is not in the list cannot be taken."""
        return None

    def accept(self, offer: FormElement) -> "Session | None":
        """Reserve a place; None if another participant has taken the last one."""
        page = self.browser.send(offer, refusals=REFUSED)
        return None if page.status in REFUSED else Session(self, page)


@dataclass(frozen=True)
class Session:
    """A place in a study: Prolific's page about it, which opens ours."""

    participant: ProlificVisitor
    page: Page

    @property
    def assignment_id(self) -> str:
        return self.page.url.rstrip("/").split("/")[-1]

    def open(self) -> Page:
        """Open the study and consent to it, on the first visit."""
        browser = self.participant.browser
        return agreed(browser, browser.send(self.page.form_to("/start"), refusals=(*TURNED_AWAY, 400, 404)))

    def save(self, sheet: Page, fields: dict[str, str]) -> Page:
        form = next(form for form in sheet.forms if "active_seconds" in form.fields)
        return self.participant.browser.send(form, fields)

    def submit(self, saved: Page) -> bool:
        """Follow the link with the code back to Prolific."""
        form = saved.form_to(FINISH)
        address = f"{form.action}?{urlencode(filled_in(form, {}))}"
        return self.participant.browser.fetch(address, refusals=REFUSED).status not in REFUSED

    def submit_without_code(self) -> bool:
        """Say on Prolific that the study showed no code."""
        browser = self.participant.browser
        forms = browser.fetch(self.page.url).forms
        plain = next(form for form in forms if form.action.endswith("/complete") and "code" not in form.fields)
        return browser.press(plain, "code", "NOCODE", refusals=REFUSED).status not in REFUSED

    def give_back(self) -> None:
        self.participant.browser.send(self.page.form_to("/return"), refusals=REFUSED)

    def leave(self, page: Page) -> None:
        """End a session in which there is nothing to do: by the code for that, or by returning it."""
        if not is_sheet(page) and any(form.action.endswith(FINISH) for form in page.forms):
            self.submit(page)
        else:
            self.give_back()

    def elsewhere(self) -> "Session":
        """Return the session on another device of the same participant."""
        other = self.participant.site.visit(self.participant.worker_id)
        return replace(self, participant=other, page=other.browser.fetch(self.page.url))
