"""The interfaces of channels: every channel names its terms; a platform also brings, confirms and pays workers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from time import sleep
from typing import Any, Protocol, TypeVar, runtime_checkable

from annotation.models import Assignment, Exclusion, Payment, Rejection
from crowd.models import Message, Posting
from crowd.study_states import There
from hits.models import Round
from hits.prices import FeeSchedule


@dataclass(eq=False)
class ChannelError(Exception):
    """A platform refused or failed a call, or its effect is unknown.

    ``permanent``: a retry cannot succeed; a person must look. Otherwise the call is retried, not before ``retry_after``
    where the platform named a time. ``reached``: False if the call cannot have had an effect. ``code``: the platform's
    for the refusal, in its own terms; empty without a reply.
    """

    message: str
    _: KW_ONLY
    permanent: bool = False
    retry_after: timedelta | None = None
    reached: bool = True
    code: str = ""


@dataclass(frozen=True)
class Arrival:
    """What a platform's visitor claims, unsigned: the posting, the assignment, the worker, and the address and fields
    of the form that finishes the work on the platform. In a preview only the posting may be known."""

    posting_id: str
    assignment_id: str
    worker_id: str
    finish_url: str
    finish_fields: Mapping[str, str]
    is_preview: bool


@dataclass(frozen=True)
class Listed:
    """One submission as the platform lists it: ``status`` is a Visit.State, ``content`` unparsed. A session that is
    not submitted is unconfirmed, or returned, or expired; its time of submission is None. ``has_declined``: it ended
    with the code for visitors who do not consent."""

    external_id: str
    worker_id: str
    status: str
    submitted_at: datetime | None
    auto_approval_at: datetime | None
    decided_at: datetime | None
    content: str
    has_declined: bool = False


@dataclass(frozen=True)
class Listing:
    """What the platform lists for one posting. ``is_over``: no worker can accept it or still works on it. A posting of
    a whole round has no expiry; ``free`` of its places are not taken, and ``freed`` are free again because submitted
    work was rejected or returned."""

    status: str
    max_assignments: int
    pending: int
    is_over: bool
    expires_at: datetime | None
    assignments: Sequence[Listed]
    there: There = There.OPEN
    free: int = 0
    freed: int = 0


@dataclass(frozen=True)
class ListedPosting:
    """A posting in the list of the whole account. ``token`` is that of the call that made it, "" if it had none."""

    external_id: str
    token: str
    terms_id: str
    reward: Decimal
    max_assignments: int


@dataclass(frozen=True)
class Bonus:
    """A bonus as the platform lists it, in US dollars; ``reason`` is None where it lists none."""

    assignment_id: str
    amount: Decimal
    reason: str | None


class Channel(Protocol):
    """A way to workers. ``environments`` lists its marketplaces, the rehearsal without payments first; empty if there
    is only one. ``label`` is its name on pages. ``unused``: the fields of an Offer that it does not support."""

    environments: tuple[str, ...]
    label: str
    unused: frozenset[str]

    def describe(self, environment: str) -> str:
        """Return in one sentence what publishing there means."""

    def spends(self, environment: str) -> bool:
        """Whether publishing there spends real money from an account."""

    def fees(self, *, top_workers: bool) -> FeeSchedule:
        """Return the channel's fees on top of rewards and bonuses. ``top_workers``: for those it calls its best."""


@runtime_checkable
class Platform(Channel, Protocol):
    """A channel whose workers, postings and payments are on a platform. Its methods raise ChannelError.

    A call with a ``token`` may be made twice with one token and must then take effect once. ``most_assignments`` is the
    maximum of answer sets for one posting, ``most_recipients`` of workers that one call writes to; ``reversible`` is
    how long after its submission a rejection can be reversed.
    """

    most_assignments: int
    most_recipients: int
    reversible: timedelta

    def check(self, environment: str) -> None:
        """Raise ChannelError unless the settings allow this environment and are complete."""

    def funds(self, environment: str) -> Decimal:
        """Return the balance of the account in US dollars."""

    # Who is this visitor?

    def arrival(self, environment: str, fields: Mapping[str, Sequence[str]]) -> Arrival:
        """Read the claims in a visitor's address. Raises ChannelError for missing or contradictory ones."""

    def origins(self, environment: str) -> tuple[str, ...]:
        """Return the origins that may frame our page and receive its form."""

    # Where do people come from?

    def publish(self, posting: Posting, *, token: str) -> None:
        """Put the posting on the platform and set its ids and times."""

    def extend(self, posting: Posting, *, token: str) -> None:
        """Raise the posting's number of answer sets to ``max_assignments``."""

    def prolong(self, posting: Posting, until: datetime, *, token: str) -> None:
        """Let workers accept the posting until then, also if it has expired. The platform sets money aside again for
        the answer sets that it had given up."""

    def close(self, posting: Posting, *, token: str) -> None:
        """Let no worker accept the posting any more; work in progress may still be submitted."""

    def dispose(self, posting: Posting, *, token: str) -> None:
        """Remove a finished posting. Nothing about it can be changed afterwards."""

    def withdraw(self, external_id: str, *, environment: str) -> None:
        """Close a posting on the platform that has no row here."""

    # What does the platform confirm?

    def collect(self, posting: Posting) -> Listing:
        """List all submissions to the posting."""

    def answer_fields(self, content: str) -> dict[str, str]:
        """Parse the ``content`` of a submission into its fields; empty if it has none."""

    def list_postings(self, environment: str) -> Sequence[ListedPosting]:
        """List the postings of the account, of all rounds."""

    def bonuses(self, posting: Posting) -> Sequence[Bonus]:
        """List the bonuses that were paid for work on the posting."""

    # Settle.

    def pay(self, payment: Payment, *, token: str) -> None:
        """Pay a reward or a bonus."""

    def reject(self, rejection: Rejection, *, token: str) -> None:
        """Reject the work, with the reason that the worker reads."""

    def message(self, messages: Sequence[Message], *, environment: str, token: str) -> None:
        """Send messages with one text, at most ``most_recipients``; set the ``failure`` of each that the platform could
        not deliver."""

    def exclude(self, exclusion: Exclusion, *, environment: str, token: str) -> None:
        """Hide our postings from the worker, without consequences for their account."""

    def readmit(self, exclusion: Exclusion, *, environment: str, token: str) -> None:
        """Lift an exclusion."""


class Outcome(StrEnum):
    """How a session ends on our side."""

    DONE = "done"
    NO_WORK = "no work"  # no HIT is left for this person; they are paid for coming
    NO_CONSENT = "no consent"


@runtime_checkable
class SessionPlatform(Platform, Protocol):
    """A platform that lists a whole round as one posting: its visitors come with a session, to which we give a HIT.

    A place whose session was returned, ran out of time or was rejected is free again by itself. ``shortest_reason`` is
    how many characters the reason of a rejection must have.
    """

    shortest_reason: int

    def confirm(self, posting: Posting, arrival: Arrival) -> bool:
        """Whether the platform confirms that this worker has the session and still works in it. False: it cannot be
        reached now. Raises a permanent ChannelError if it denies that, and another one if it refuses to answer us."""

    def finish(self, posting: Posting, outcome: Outcome) -> tuple[str, Mapping[str, str]]:
        """Return the address that ends a session on the platform, and the fields to open it with."""

    def longest_session(self, posting: Posting) -> timedelta:
        """Return how long a session may last."""

    def pause(self, posting: Posting, *, paused: bool) -> There:
        """Stop or resume the arrival of visitors, and return the posting's state then. Repeating it changes nothing."""


@runtime_checkable
class AsksFees(Platform, Protocol):
    """A platform that can be asked what a round costs there; ``fees`` is only an estimate."""

    def ask_fees(self, environment: str, round: Round, places: int) -> FeeSchedule:
        """Return the fees for ``places`` answer sets of a round with its expected time set. Raises ChannelError for a
        round that the platform would refuse."""


@runtime_checkable
class OneShotBonuses(Platform, Protocol):
    """A platform that pays a bonus again whenever the call is repeated (``crowd.calls.single_payments``)."""

    def prepare_bonus(self, payment: Payment) -> dict[str, Any]:
        """Return what paying the bonus needs and what the platform lists now, as JSON. It may be repeated."""

    def send_bonus(self, payment: Payment, prepared: dict[str, Any]) -> None:
        """Pay the bonus. Never repeat it; ``reached`` of a ChannelError says whether it may have paid."""

    def is_bonus_paid(self, payment: Payment, prepared: dict[str, Any]) -> bool:
        """Whether the platform lists the bonus by now; it lists one with a delay."""


@runtime_checkable
class SendsHooks(Platform, Protocol):
    """A platform that sends events when something changes."""

    def event_id(self, environment: str, headers: Mapping[str, str], body: bytes) -> str:
        """Return the id of an event. Raises ChannelError for one that the platform has not signed."""


@runtime_checkable
class AsksReturns(Platform, Protocol):
    """A platform where workers can be asked to return work."""

    def request_return(self, assignment: Assignment, reason: str) -> None:
        """Ask its worker, unless they were asked before."""


Read = TypeVar("Read")

LONGEST_WAIT = timedelta(minutes=1)
MOST_WAITS = 3


def patiently(read: Callable[[], Read]) -> Read:
    """Return what ``read`` returns; where the platform asks for a pause, wait that long and call it again.

    Raises ChannelError for other failures, for a pause of more than a minute, and after MOST_WAITS pauses.
    """
    for _ in range(MOST_WAITS):
        try:
            return read()
        except ChannelError as error:
            if error.retry_after is None or error.retry_after > LONGEST_WAIT:
                raise
            sleep(error.retry_after.total_seconds())
    return read()
