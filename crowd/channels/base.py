"""What every crowd platform is to us: a place to post HITs, collect work, decide on it, pay, and write to workers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Protocol

from annotation.models import Exclusion, Payment, Rejection
from crowd.models import Message, Posting
from crowd.offers import Offer
from hits.prices import FeeSchedule


class ChannelError(Exception):
    """A platform did not do what it was asked, or we do not know whether it did.

    ``permanent``: it never will, and a person must look. Otherwise the call is made again, not before
    ``retry_after`` where the platform named a time. ``reached``: false where it cannot have had an effect.
    """

    def __init__(
        self,
        message: str,
        *,
        permanent: bool = False,
        retry_after: timedelta | None = None,
        reached: bool = True,
    ) -> None:
        super().__init__(message)
        self.permanent = permanent
        self.retry_after = retry_after
        self.reached = reached


@dataclass(frozen=True)
class Listed:
    """One submission as the platform lists it: ``status`` is a PlatformState, ``content`` unparsed."""

    external_id: str
    worker_id: str
    status: str
    submitted_at: datetime
    auto_approval_at: datetime | None
    decided_at: datetime | None
    content: str


@dataclass(frozen=True)
class Listing:
    """All that the platform says of one posted HIT. ``is_over``: no worker can take it or still works on it."""

    status: str
    max_assignments: int
    pending: int
    is_over: bool
    expires_at: datetime
    assignments: Sequence[Listed]


@dataclass(frozen=True)
class Standing:
    """A HIT as it stands on the platform. ``token`` is that of the call that posted it; "" where none was given."""

    external_id: str
    token: str
    type_id: str
    reward: Decimal
    max_assignments: int


@dataclass(frozen=True)
class Bonus:
    """A bonus as the platform lists it, in US dollars."""

    assignment_id: str
    amount: Decimal
    reason: str


@dataclass(frozen=True)
class Arrival:
    """What a platform's visitor claims, unsigned: which posting, which assignment, who they are, and where their page
    sends its form when it is finished, with which fields. In a preview only the posting may be known."""

    posting_id: str
    assignment_id: str
    worker_id: str
    finish_url: str
    finish_fields: Mapping[str, str]
    is_preview: bool


class Channel(Protocol):
    """A place where people find our work.

    ``environments`` are the worlds that a round can be published to, the first one where nobody pays; empty where
    there is only one. ``is_remote`` tells a Platform from the house's own pool; ``label`` names it to people.
    """

    environments: tuple[str, ...]
    is_remote: bool
    label: str

    def describe(self, environment: str) -> str:
        """Return in a sentence what it means to publish there."""

    def spends(self, environment: str) -> bool:
        """Whether what is published there is paid from an account with real money."""

    def fees(self, offer: Offer) -> FeeSchedule:
        """Return what is taken on top of rewards and bonuses for work on these terms."""


class Platform(Channel, Protocol):
    """A channel outside the house. Its calls raise ChannelError; those with a ``token`` may be made twice with one
    token and must then take effect once. ``most_assignments``: answer sets of one posting at most."""

    most_assignments: int

    def check(self, environment: str) -> None:
        """Raise ChannelError unless this environment may be used and is what the configuration points to."""

    def funds(self, environment: str) -> Decimal:
        """Return what can be spent, in US dollars."""

    def publish(self, posting: Posting, *, token: str) -> None:
        """Put the posting on the platform and set its ids and times."""

    def extend(self, posting: Posting, *, token: str) -> None:
        """Let the posting bring ``max_assignments`` in all."""

    def close(self, posting: Posting, *, token: str) -> None:
        """Take the posting off the market; who accepted it may still submit."""

    def dispose(self, posting: Posting, *, token: str) -> None:
        """Remove a finished posting. Afterwards nothing about it can be changed any more."""

    def collect(self, posting: Posting) -> Listing:
        """List everything that was submitted, whole."""

    def standing(self, environment: str) -> Sequence[Standing]:
        """List every HIT of our account, whichever round it is of."""

    def bonuses(self, posting: Posting) -> Sequence[Bonus]:
        """List every bonus that was paid for work on the posting."""

    def withdraw(self, external_id: str, *, environment: str) -> None:
        """Take a HIT off the market that no posting of ours stands for."""

    def pay(self, payment: Payment, *, token: str) -> bool:
        """Pay it. False: the platform moves no money, and the payment stays owed until somebody marks it paid."""

    def reject(self, rejection: Rejection, *, token: str) -> None:
        """Refuse to pay, with the reason that the worker reads."""

    def message(self, message: Message, *, environment: str, token: str) -> None:
        """Write to the worker. What the platform could not deliver is noted in ``failure``."""

    def exclude(self, exclusion: Exclusion, *, environment: str, token: str) -> None:
        """Keep our work from a worker, in a way that does not endanger their account."""

    def readmit(self, exclusion: Exclusion, *, environment: str, token: str) -> None:
        """Lift an exclusion."""

    def arrival(self, environment: str, fields: Mapping[str, Sequence[str]]) -> Arrival:
        """Read what a visitor's address claims. Raises ChannelError where it contradicts itself or lacks something."""

    def answer_fields(self, content: str) -> dict[str, str]:
        """Parse a listed answer into its fields; empty where there are none."""

    def origins(self, environment: str) -> tuple[str, ...]:
        """Return the origins that may frame our page and take its form."""
