"""What the emulated marketplace keeps: plain records, of which those that refer to others equal only themselves."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

HITStatus = Literal["Assignable", "Unassignable", "Reviewable", "Reviewing", "Disposed"]
AssignmentStatus = Literal["Accepted", "Returned", "Abandoned", "Submitted", "Approved", "Rejected"]
EventType = Literal[
    "AssignmentAccepted",
    "AssignmentAbandoned",
    "AssignmentReturned",
    "AssignmentSubmitted",
    "AssignmentRejected",
    "AssignmentApproved",
    "HITCreated",
    "HITExpired",
    "HITReviewable",
    "HITExtended",
    "HITDisposed",
    "Ping",
]


@dataclass
class HITType:
    """What HITs of one group share. ``requirements`` are in the API's shape."""

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
        """Return how many of its assignments have one of these statuses."""
        return sum(assignment.status in statuses for assignment in self.assignments)

    @property
    def free(self) -> int:
        """Assignments that nobody has taken, whether or not the HIT has expired."""
        return self.max_assignments - self.count("Accepted", "Submitted", "Approved", "Rejected")


@dataclass(eq=False)
class Assignment:
    """One acceptance of a HIT by a worker. After a return, another record may carry the same ``id``."""

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
    """A person on the worker's side. ``approved`` and ``rejected`` include work done before this world began."""

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
    """What a worker can be qualified in. Without ``retry_delay`` it can be requested once, ever."""

    id: str
    serial: int
    created_at: datetime
    name: str
    description: str
    keywords: str | None
    active: bool
    test: str | None = None
    answer_key: str | None = None
    test_duration: timedelta | None = None
    retry_delay: timedelta | None = None
    auto_granted: bool = False
    auto_granted_value: int = 1


@dataclass
class Qualification:
    """A worker's standing in a qualification type. A revoked one stays on record."""

    type_id: str
    worker_id: str
    granted_at: datetime
    value: int | None
    revoked: bool = False


@dataclass
class QualificationRequest:
    """A worker's wish to be qualified. ``open``: the requester has not answered it."""

    id: str
    serial: int
    type_id: str
    worker_id: str
    submitted_at: datetime
    test: str | None
    answer: str | None
    open: bool = True


@dataclass
class Bonus:
    """Money paid beside a reward."""

    serial: int
    worker_id: str
    assignment_id: str
    hit_id: str
    amount: Decimal
    reason: str
    granted_at: datetime


@dataclass
class Block:
    """A worker who may not do our HITs. The worker never sees ``reason``."""

    serial: int
    worker_id: str
    reason: str


@dataclass
class Message:
    """An e-mail that a worker would have received."""

    worker_id: str
    at: datetime
    subject: str
    text: str


@dataclass
class LedgerEntry:
    """A movement of the requester's money: what it did to the two balances, in dollars."""

    at: datetime
    what: str
    available: Decimal
    on_hold: Decimal
    about: str


@dataclass
class Happening:
    """Something that a notification could tell about; a test event brings the ``notification`` to send it by."""

    type: EventType
    at: datetime
    hit_id: str = ""
    hit_type_id: str = ""
    assignment_id: str | None = None
    worker_id: str | None = None
    notification: dict[str, Any] | None = None
