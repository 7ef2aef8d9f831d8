"""MTurk's workers' site, as our emulator serves it, seen by simulated people: sign in, list, accept, frame, return."""

from base64 import b32encode
from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2b

from core.errors import CounterpartError
from crowd import channels
from crowd.channels import ChannelError
from crowd.channels.mturk.environments import environment_of
from crowd.offers import Offer, offer_of
from hits.models import Round
from simulation.browser import Browser, Detour, Form, Page

REFUSED = (409,)
TURNED_AWAY = (403, 409, 410)  # our own page's answers to somebody who cannot work on this HIT
APPROVED_BEFORE = 1_000_000  # what a round may ask for at most, so that nobody is shut out


class EmulatedSite:
    """The emulator that a round stands on. Nothing is ever asked of any other place.

    Raises CounterpartError for a round on a platform where people work, and where the emulator cannot be used.
    """

    def __init__(self, round: Round) -> None:
        rehearsed = channels.platform(round.channel).environments[0]
        if round.environment != rehearsed:
            raise CounterpartError(
                f"Round {round} is on {round.channel} {round.environment}, where people work for money; "
                f"a crowd is simulated on the {rehearsed} alone."
            )
        try:
            environment = environment_of(round.environment)
        except ChannelError as error:
            raise CounterpartError(str(error)) from error
        self.address = environment.origins[0].rstrip("/")
        self.offer = offer_of(round)
        self._way = Detour(self.address, environment.endpoint)

    def visit(self, worker_id: str) -> "Visitor":
        """Sign somebody in, as a worker who meets every demand of the round."""
        visitor = Visitor(self.address, Browser(transport=self._way), Browser(transport=self._way))
        visitor.register(worker_id, self.offer)
        return visitor

    def forward(self, by: timedelta) -> None:
        """Move the marketplace's clock on."""
        Browser(transport=self._way).tell(f"{self.address}/_emulator/clock", {"forward_seconds": by.total_seconds()})


@dataclass(frozen=True)
class Visitor:
    """One worker's two profiles: ``framed`` is that of the task's frame, which gets none of the site's cookies."""

    address: str
    browser: Browser
    framed: Browser

    def register(self, worker_id: str, offer: Offer) -> None:
        form = self.browser.fetch(f"{self.address}/worker/sign-in").form_to("/worker/register")
        country = offer.countries[0] if offer.countries else "US"
        record = {"worker_id": worker_id, "approved": str(APPROVED_BEFORE), "country": country}
        self.browser.send(form, record | ({"masters": "1"} if offer.masters else {}))

    def offers(self) -> dict[str, Form]:
        """Return the forms by which the HITs in the worker's list are accepted, by the platform's ids of them."""
        forms = self.browser.fetch(f"{self.address}/worker/").forms
        return {form.action.split("/")[-2]: form for form in forms if form.action.endswith("/accept")}

    def offer_of(self, hit_id: str) -> Form | None:
        """Return the form on a HIT's own page by which it is accepted; None where the worker may not have it."""
        forms = self.browser.fetch(f"{self.address}/worker/hits/{hit_id}", refusals=REFUSED).forms
        return next((form for form in forms if form.action.endswith("/accept")), None)

    def accept(self, offer: Form) -> "Task | None":
        """Take a HIT. None: somebody else has taken its last place."""
        page = self.browser.send(offer, refusals=REFUSED)
        return Task(self, page) if page.frames else None


@dataclass(frozen=True)
class Task:
    """An accepted HIT: the platform's page with ours in its frame."""

    visitor: Visitor
    page: Page

    @property
    def assignment_id(self) -> str:
        return self.page.url.rsplit("/", 1)[-1]

    def open(self) -> Page:
        """Open our page in the frame; one without its form tells the worker why they cannot work on this HIT."""
        return self.visitor.framed.fetch(self.page.frames[0], refusals=TURNED_AWAY)

    def save(self, sheet: Page, filled: dict[str, str]) -> Page:
        """Send our form; the page that comes back holds the platform's."""
        form = next(form for form in sheet.forms if "active_seconds" in form.offers)
        return self.visitor.framed.send(form, filled)

    def hand_in(self, saved: Page) -> bool:
        """Send the platform's form. False: it took nothing, as it has the answers or the time is over."""
        return self.visitor.framed.send(saved.form_to("/externalSubmit"), refusals=REFUSED).status not in REFUSED

    def give_back(self) -> None:
        self.visitor.browser.send(self.page.form_to("/return"), refusals=REFUSED)


def worker_id_of(name: str) -> str:
    """Return the id, as MTurk forms them, that always stands for this name."""
    return "A" + b32encode(blake2b(name.encode(), digest_size=10).digest()).decode().translate({ord("="): None})
