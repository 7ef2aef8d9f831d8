"""MTurk's worker site as our emulator serves it: sign in, list, accept, open the frame, submit, return."""

from base64 import b32encode
from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2b

from lxml.html import FormElement

from crowd.channels.mturk.client import environment_of
from crowd.offers import Offer, offer_of
from hits.models import Round
from simulation.doors.conduct import TURNED_AWAY, agreed
from simulation.http_browser import Browser, Detour, Page

REFUSED = (409,)
APPROVED_BEFORE = 1_000_000  # more than a round may demand, so that no worker is shut out


class MTurkSite:
    """The emulator that a round is posted on. Raises ChannelError if it cannot be used."""

    profile = "rehearsal"

    def __init__(self, round: Round) -> None:
        environment = environment_of(round.environment)
        self.address = environment.origins[0].rstrip("/")
        self.offer = offer_of(round)
        self._transport = Detour(self.address, environment.endpoint)

    @property
    def longest_turn(self) -> timedelta:
        return self.offer.duration

    @staticmethod
    def worker_id(name: str) -> str:
        """Return the id of this name, always the same and formed as MTurk's ids are."""
        return "A" + b32encode(blake2b(name.encode(), digest_size=10).digest()).decode().translate({ord("="): None})

    def visit(self, worker_id: str) -> "MTurkVisitor":
        """Sign a worker in who meets every demand of the round."""
        visitor = MTurkVisitor(self.address, Browser(transport=self._transport), Browser(transport=self._transport))
        visitor.register(worker_id, self.offer)
        return visitor

    def forward(self, by: timedelta) -> None:
        """Move the emulator's clock on."""
        url = f"{self.address}/_emulator/clock"
        Browser(transport=self._transport).send_json(url, {"forward_seconds": by.total_seconds()})


@dataclass(frozen=True)
class MTurkVisitor:
    """A signed-in worker. ``framed`` is the browser of the task's frame, which gets no cookies of the site."""

    address: str
    browser: Browser
    framed: Browser

    def register(self, worker_id: str, offer: Offer) -> None:
        form = self.browser.fetch(f"{self.address}/worker/sign-in").form_to("/worker/register")
        country = offer.countries[0] if offer.countries else "US"
        record = {"worker_id": worker_id, "approved": str(APPROVED_BEFORE), "country": country}
        self.browser.send(form, record | ({"masters": "1"} if offer.top_workers else {}))

    def offers(self) -> dict[str, FormElement]:
        """Return the forms that accept the HITs in the worker's list, by the HITs' ids."""
        forms = self.browser.fetch(f"{self.address}/worker/").forms
        return {form.action.split("/")[-2]: form for form in forms if form.action.endswith("/accept")}

    def offer_of(self, hit_id: str) -> FormElement | None:
        """Return the form on a HIT's own page that accepts it; None if the worker may not have it."""
        forms = self.browser.fetch(f"{self.address}/worker/hits/{hit_id}", refusals=REFUSED).forms
        return next((form for form in forms if form.action.endswith("/accept")), None)

    def accept(self, offer: FormElement) -> "MTurkTask | None":
        """Accept a HIT; None if another worker has taken the last assignment."""
        page = self.browser.send(offer, refusals=REFUSED)
        return MTurkTask(self, page) if page.frames else None


@dataclass(frozen=True)
class MTurkTask:
    """An accepted HIT: MTurk's page with ours in its frame."""

    visitor: MTurkVisitor
    page: Page

    @property
    def assignment_id(self) -> str:
        return self.page.url.rsplit("/", 1)[-1]

    def open(self) -> Page:
        page = self.visitor.framed.fetch(self.page.frames[0], refusals=TURNED_AWAY)
        return agreed(self.visitor.framed, page)

    def save(self, sheet: Page, fields: dict[str, str]) -> Page:
        form = next(form for form in sheet.forms if "active_seconds" in form.fields)
        return self.visitor.framed.send(form, fields)

    def submit(self, saved: Page) -> bool:
        return self.visitor.framed.send(saved.form_to("/externalSubmit"), refusals=REFUSED).status not in REFUSED

    def submit_without_code(self) -> bool:
        """MTurk has no codes: nothing is submitted without our form."""
        return False

    def leave(self, page: Page) -> None:
        self.give_back()

    def elsewhere(self) -> "MTurkTask":
        """The frame gets no cookies, so that our page cannot distinguish devices."""
        return self

    def give_back(self) -> None:
        self.visitor.browser.send(self.page.form_to("/return"), refusals=REFUSED)
