"""The data of the emulated marketplace: its rows, and the state that holds them."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

from counterpart_emulators.marketplace import MarketState

HITStatus = Literal["Assignable", "Unassignable", "Reviewable", "Reviewing", "Disposed"]
AssignmentStatus = Literal["Accepted", "Returned", "Abandoned", "Submitted", "Approved", "Rejected"]
Reissue = Literal["seeded", "same", "another", "never"]

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
TOKEN_MEMORY = timedelta(hours=24)


@dataclass
class HITType:
    """The terms of the HITs of one group. ``requirements`` are in the API's shape."""

    id: str
    group_id: str
    title: str
    description: str
    keywords: str
    reward: Decimal
    duration: timedelta
    auto_approval_delay: timedelta
    requirements: list[dict[str, Any]]


@dataclass(eq=False)
class HIT:
    """One task. ``fee`` is that of one assignment; ``held`` counts assignments whose reward and fee are on hold."""

    id: str
    serial: int
    type: HITType
    question: str
    created_at: datetime
    expires_at: datetime
    max_assignments: int
    fee: Decimal
    annotation: str | None
    status: HITStatus = "Assignable"
    expired: bool = False
    reviewing: bool = False
    held: int = 0
    reviewable_since: datetime | None = None
    assignments: list["Assignment"] = field(default_factory=list)

    def count(self, *statuses: AssignmentStatus) -> int:
        """Return how many assignments have one of these statuses."""
        return sum(assignment.status in statuses for assignment in self.assignments)

    @property
    def free(self) -> int:
        """Places that no worker has taken, whether or not the HIT has expired."""
        return self.max_assignments - self.count("Accepted", "Submitted", "Approved", "Rejected")


@dataclass(eq=False)
class Assignment:
    """One acceptance of a HIT by a worker. After a return, another record may have the same ``id``."""

    id: str
    serial: int
    hit: HIT
    worker_id: str
    accepted_at: datetime
    deadline: datetime
    status: AssignmentStatus = "Accepted"
    ended_at: datetime | None = None  # returned or abandoned
    submitted_at: datetime | None = None
    auto_approval_at: datetime | None = None
    approved_at: datetime | None = None
    rejected_at: datetime | None = None
    answer: str = ""
    feedback: str | None = None


@dataclass(eq=False)
class Worker:
    """A person who works. ``approved`` and ``rejected`` include work done before the rehearsal."""

    id: str
    registered_at: datetime
    approved: int = 0
    rejected: int = 0
    country: str = "US"
    subdivision: str | None = None
    masters: bool = False
    adult: bool = False
    assignments: list[Assignment] = field(default_factory=list)

    @property
    def approval_rate(self) -> int:
        """Whole per cent of the reviewed assignments that were approved; 100 before any was reviewed."""
        reviewed = self.approved + self.rejected
        return self.approved * 100 // reviewed if reviewed else 100


@dataclass
class QualificationType:
    """A qualification that workers can have. Without ``retry_delay`` it can be requested only once."""

    id: str
    serial: int
    created_at: datetime
    name: str
    description: str
    keywords: str | None
    active: bool
    retry_delay: timedelta | None = None
    auto_granted: bool = False
    auto_granted_value: int = 1


@dataclass
class Qualification:
    """A worker's qualification of a type. A revoked one is kept."""

    type_id: str
    worker_id: str
    granted_at: datetime
    value: int | None
    revoked: bool = False


@dataclass
class QualificationRequest:
    """A worker's request for a qualification. ``open``: the requester has not answered it."""

    id: str
    serial: int
    type_id: str
    worker_id: str
    submitted_at: datetime
    open: bool = True


@dataclass
class Bonus:
    """Money paid in addition to a reward."""

    serial: int
    worker_id: str
    assignment_id: str
    hit_id: str
    amount: Decimal
    reason: str
    granted_at: datetime


@dataclass
class Message:
    """An e-mail that a worker would have received."""

    worker_id: str
    at: datetime
    subject: str
    text: str


@dataclass
class State(MarketState):
    """The marketplace's tables.

    ``reissue`` says who may get the id of a returned assignment: decided by the seed, only the ``same`` worker, only
    ``another`` worker, or ``never``. ``premium_fees`` are dollars for each assignment of a HIT that requires the
    qualification type.
    """

    sandbox: bool = False
    reissue: Reissue = "seeded"
    hit_types: dict[str, HITType] = field(default_factory=dict)
    hits: dict[str, HIT] = field(default_factory=dict)
    assignments: dict[str, Assignment] = field(default_factory=dict)
    workers: dict[str, Worker] = field(default_factory=dict)
    qualification_types: dict[str, QualificationType] = field(default_factory=dict)
    qualifications: dict[tuple[str, str], Qualification] = field(default_factory=dict)
    requests: dict[str, QualificationRequest] = field(default_factory=dict)
    bonuses: list[Bonus] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    tokens: dict[tuple[str, str], tuple[datetime, str]] = field(default_factory=dict)
    premium_fees: dict[str, Decimal] = field(default_factory=dict)

    def mint(self, kind: str, *, prefix: str = "3", length: int = 30) -> str:
        """Return an unused id of a kind that looks like the marketplace's own."""
        number = self.draw(f"id of {kind}")
        characters = []
        for _ in range(length - len(prefix)):
            number, digit = divmod(number, len(ALPHABET))
            characters.append(ALPHABET[digit])
        return prefix + "".join(characters)

    def write_to(self, worker_id: str, subject: str, text: str) -> None:
        """Send a message to a worker."""
        self.messages.append(Message(worker_id, self.now, subject, text))

    def made_with(self, kind: str, token: str | None) -> str | None:
        """Return the id of the row that this kind of request with this token made in the last 24 hours."""
        if token is None or (kind, token) not in self.tokens:
            return None
        at, made = self.tokens[kind, token]
        return made if self.now < at + TOKEN_MEMORY else None

    def remember(self, kind: str, token: str | None, made: str) -> None:
        """Remember that a request with this unique token was done."""
        if token is not None:
            self.tokens[kind, token] = self.now, made
