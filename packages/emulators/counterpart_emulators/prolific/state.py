"""The data of the emulated marketplace: its rows, and the state that holds them."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

from counterpart_emulators.marketplace import MarketState

StudyStatus = Literal["UNPUBLISHED", "SCHEDULED", "PUBLISHING", "ACTIVE", "PAUSED", "AWAITING REVIEW", "COMPLETED"]
SubmissionStatus = Literal[
    "RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED", "PARTIALLY APPROVED", "REJECTED", "RETURNED", "TIMED-OUT",
    "SCREENED OUT",
]  # fmt: skip

OPEN = ("RESERVED", "ACTIVE")  # someone works on it
TAKING = (*OPEN, "AWAITING REVIEW", "APPROVED", "PARTIALLY APPROVED")  # it takes a place
DRAFT = ("UNPUBLISHED", "SCHEDULED")
RESERVED_FOR = timedelta(minutes=10)


@dataclass(frozen=True)
class Price:
    """The price of one payment, in currency units: the participant's part, the fee on it, and the VAT on the fee."""

    reward: Decimal
    fee: Decimal
    vat: Decimal

    @property
    def total(self) -> Decimal:
        return self.reward + self.fee + self.vat


@dataclass(eq=False)
class Study:
    """A study. ``terms`` are its fields in the API's shape; ``held`` counts places whose price is on hold."""

    id: str
    serial: int
    created_at: datetime
    terms: dict[str, Any]
    project_id: str
    status: StudyStatus = "UNPUBLISHED"
    published_at: datetime | None = None
    stopped: bool = False
    held: int = 0
    submissions: list["Submission"] = field(default_factory=list)
    history: list[tuple[datetime, StudyStatus]] = field(default_factory=list)

    @property
    def places(self) -> int:
        return int(self.terms["total_available_places"])

    @property
    def taken(self) -> int:
        return sum(each.status in TAKING for each in self.submissions)

    @property
    def free(self) -> int:
        """Places that are not taken, whether or not the study can be taken now."""
        return self.places - self.taken

    @property
    def reward(self) -> Decimal:
        """The reward of one submission, in currency units."""
        return Decimal(self.terms["reward"]) / 100

    @property
    def hourly(self) -> Decimal:
        """The reward for an hour of the estimated time."""
        return self.reward * 60 / Decimal(str(self.terms["estimated_completion_time"]))

    @property
    def estimated(self) -> timedelta:
        return timedelta(minutes=self.terms["estimated_completion_time"])

    @property
    def limit(self) -> timedelta:
        return timedelta(minutes=self.terms["maximum_allowed_time"])

    @property
    def repeats(self) -> int:
        """How often one participant may take it; -1 for any number."""
        return int(self.terms["submissions_config"]["max_submissions_per_participant"] or 1)


@dataclass(eq=False)
class Submission:
    """One participant's turn at a study. ``paid`` is its reward, ``bonuses`` are what was paid besides."""

    id: str
    serial: int
    study: Study
    participant_id: str
    reserved_at: datetime
    url: str
    status: SubmissionStatus = "RESERVED"
    started_at: datetime | None = None
    completed_at: datetime | None = None
    decided_at: datetime | None = None
    return_requested: datetime | None = None
    entered_code: str | None = None
    rejection: dict[str, str] | None = None
    paid: Decimal = Decimal("0.00")
    bonuses: list[Decimal] = field(default_factory=list)
    history: list[tuple[datetime, SubmissionStatus]] = field(default_factory=list)

    @property
    def deadline(self) -> datetime:
        """Until when it can be started or, once that is done, worked on."""
        return self.reserved_at + RESERVED_FOR if self.started_at is None else self.started_at + self.study.limit

    @property
    def can_complete(self) -> bool:
        """Whether a code can be entered: late work counts while its place is free."""
        study = self.study
        late = self.status == "TIMED-OUT" and self.started_at is not None and not study.stopped and study.free > 0
        return self.status == "ACTIVE" or late

    @property
    def can_return(self) -> bool:
        return self.status in (*OPEN, "AWAITING REVIEW")

    def status_at(self, then: datetime) -> SubmissionStatus:
        """Return the status at an instant after the reservation."""
        return next((status for at, status in reversed(self.history) if at <= then), self.history[0][1])


@dataclass(eq=False)
class Participant:
    """A person who takes studies. ``approval_rate`` is a whole per cent of earlier work."""

    id: str
    approval_rate: int = 100
    device: str = "desktop"
    submissions: list[Submission] = field(default_factory=list)

    @property
    def open(self) -> Submission | None:
        """The submission that they work on; one at a time."""
        return next((each for each in self.submissions if each.status in OPEN), None)

    @property
    def earned(self) -> Decimal:
        """The sum of their payments, in currency units."""
        return sum((each.paid + sum(each.bonuses, Decimal(0)) for each in self.submissions), Decimal("0.00"))


@dataclass
class Group:
    """A participant group and when each member came."""

    id: str
    name: str
    description: str
    members: dict[str, datetime] = field(default_factory=dict)


@dataclass
class Message:
    """A message from the researcher to a participant."""

    id: str
    participant_id: str
    study_id: str
    body: str
    sent_at: datetime


@dataclass
class BonusOrder:
    """Bonuses that were set up together: what each submission gets, in currency units."""

    id: str
    study_id: str
    amounts: list[tuple[str, Decimal]]


@dataclass
class Subscription:
    """A hook. Nothing is sent before it is confirmed with its ``confirmation``."""

    id: str
    event_type: str
    target_url: str
    confirmation: str
    confirmed: bool = False
    enabled: bool = False
    failing_since: datetime | None = None


@dataclass
class Event:
    """A notification to a subscriber: the ``body`` is sent until it is received or was tried too often."""

    id: str
    subscription_id: str
    resource_id: str
    body: str
    created_at: datetime
    due_at: datetime
    status: Literal["PENDING", "SUCCEEDED", "FAILED"] = "PENDING"
    attempts: int = 0


@dataclass
class State(MarketState):
    """The marketplace's tables. ``secrets`` are those of the hooks, the latest one last."""

    currency: str = "USD"
    projects: dict[str, dict[str, str]] = field(default_factory=dict)
    studies: dict[str, Study] = field(default_factory=dict)
    submissions: dict[str, Submission] = field(default_factory=dict)
    participants: dict[str, Participant] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    bonus_orders: dict[str, BonusOrder] = field(default_factory=dict)
    bonus_runs: dict[str, BonusOrder] = field(default_factory=dict)
    secrets: list[dict[str, str]] = field(default_factory=list)
    subscriptions: dict[str, Subscription] = field(default_factory=dict)
    events: dict[str, Event] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.user_id, self.workspace_id, project_id = (self.mint(kind) for kind in ("user", "workspace", "project"))
        self.projects[project_id] = {"id": project_id, "title": "Project", "description": ""}

    def mint(self, kind: str) -> str:
        """Return an unused id of a kind that looks like the marketplace's own."""
        return f"{self.draw(f'id of {kind}'):064x}"[:24]
