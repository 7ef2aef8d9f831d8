"""Everything that is true in the emulated marketplace, and the seeded source of its ids."""

import hashlib
import heapq
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Literal

from emulators.mturk.rows import (
    HIT,
    Assignment,
    Block,
    Bonus,
    Happening,
    HITType,
    LedgerEntry,
    Message,
    Qualification,
    QualificationRequest,
    QualificationType,
    Worker,
)

Reissue = Literal["seeded", "same", "another", "never"]

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
EVENTS_QUEUE = "mturk-events"  # there from the start, with a visibility timeout of 30 seconds
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class State:
    """The marketplace at the instant ``now``, which the world sets before every act.

    ``reissue`` says who may be given the id of an assignment that was returned: whoever the seed says, only the
    ``same`` worker again, only ``another`` worker, or nobody. ``premium_fees`` are dollars
    for each assignment of a HIT that requires the qualification type.
    """

    seed: int
    sandbox: bool = False
    now: datetime = EPOCH
    available: Decimal = Decimal("0.00")
    on_hold: Decimal = Decimal("0.00")
    reissue: Reissue = "seeded"
    hit_types: dict[str, HITType] = field(default_factory=dict)
    hits: dict[str, HIT] = field(default_factory=dict)
    assignments: dict[str, Assignment] = field(default_factory=dict)
    workers: dict[str, Worker] = field(default_factory=dict)
    qualification_types: dict[str, QualificationType] = field(default_factory=dict)
    qualifications: dict[tuple[str, str], Qualification] = field(default_factory=dict)
    requests: dict[str, QualificationRequest] = field(default_factory=dict)
    tests_begun: dict[tuple[str, str], datetime] = field(default_factory=dict)
    bonuses: list[Bonus] = field(default_factory=list)
    blocks: dict[str, Block] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    ledger: list[LedgerEntry] = field(default_factory=list)
    tokens: dict[tuple[str, str], tuple[datetime, str]] = field(default_factory=dict)
    notifications: dict[str, dict[str, Any]] = field(default_factory=dict)
    queues: dict[str, tuple[int, int]] = field(default_factory=lambda: {EVENTS_QUEUE: (30, 0)})
    premium_fees: dict[str, Decimal] = field(default_factory=dict)
    happenings: list[Happening] = field(default_factory=list)
    due: list[tuple[datetime, int, str, str]] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=dict)

    def count(self, kind: str) -> int:
        """Return the next number of a kind, from 1 on."""
        self.counters[kind] = self.counters.get(kind, 0) + 1
        return self.counters[kind]

    def draw(self, kind: str) -> int:
        """Return the next large random number of a kind: it depends on the seed and on how many were drawn before."""
        digest = hashlib.sha256(f"{self.seed}|{kind}|{self.count(kind)}".encode()).digest()
        return int.from_bytes(digest, "big")

    def mint(self, kind: str, *, prefix: str = "3", length: int = 30) -> str:
        """Return an unused id of a kind that looks like the marketplace's own."""
        number, characters = self.draw(f"id of {kind}"), []
        for _ in range(length - len(prefix)):
            number, digit = divmod(number, len(ALPHABET))
            characters.append(ALPHABET[digit])
        return prefix + "".join(characters)

    def schedule(self, at: datetime, kind: str, id: str) -> None:
        """Ask for a move of ``kind`` at an instant; of two at one instant, the one that was asked first is first."""
        heapq.heappush(self.due, (at, self.count("due"), kind, id))

    def tell(self, type: Any, hit: HIT, assignment: Assignment | None = None) -> None:
        """Note that something happened, for those who watch the world."""
        of, by = (assignment.id, assignment.worker_id) if assignment else (None, None)
        self.happenings.append(Happening(type, self.now, hit.id, hit.type.id, of, by))
