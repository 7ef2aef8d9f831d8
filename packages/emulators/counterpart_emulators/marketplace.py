"""An emulated marketplace: a state behind one lock, changed by acts and by time, and repeated from its journal."""

import hashlib
import heapq
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from counterpart_emulators.faults import FaultPlan
from counterpart_emulators.journal import Journal, unpack
from counterpart_emulators.money import Ledger, read_amount
from counterpart_emulators.world_clock import Clock

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Refusal(Exception):  # noqa: N818 - an ordinary outcome, not an error
    """A worker may not do this. The text is a sentence for their page."""


@dataclass
class MarketState:
    """The state at the instant ``now``, which the marketplace sets before every act. Random numbers come from the
    seed: the same seed and the same acts give the same ids."""

    seed: int
    now: datetime = EPOCH
    ledger: Ledger = field(default_factory=Ledger)
    due: list[tuple[datetime, int, str, str]] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=dict)

    def count(self, kind: str) -> int:
        """Return the next number of a kind, starting at 1."""
        self.counters[kind] = self.counters.get(kind, 0) + 1
        return self.counters[kind]

    def draw(self, kind: str) -> int:
        """Return the next large random number of a kind: it depends on the seed and on how many were drawn before."""
        digest = hashlib.sha256(f"{self.seed}|{kind}|{self.count(kind)}".encode()).digest()
        return int.from_bytes(digest, "big")

    def schedule(self, at: datetime, kind: str, row_id: str) -> None:
        """Schedule a move of a kind at an instant. Moves at the same instant are made in the order of scheduling."""
        heapq.heappush(self.due, (at, self.count("due"), kind, row_id))


State = TypeVar("State", bound=MarketState)
Answer = TypeVar("Answer")
Act = Callable[..., Any]
Move = Callable[[Any, str], None]


def set_balance(state: MarketState, *, available: str) -> dict[str, Any]:
    """Set the requester's available balance (dollars)."""
    state.ledger.set_available(state.now, read_amount(available))
    return {"available": state.ledger.available}


class Marketplace(Generic[State]):
    """A marketplace with one requester.

    ``acts`` are what people and the controls can do, by the names under which the journal keeps them; ``moves`` are
    what time does, by the kinds under which the state schedules them. With a ``journal`` file, its acts are repeated
    first; ``balance`` is the account's at the start (dollars). Raises JournalError.
    """

    acts: ClassVar[Mapping[str, Act]] = {
        "set_balance": set_balance,
        "note": lambda state, *, what, about: {},  # a line for people who read the journal
    }
    moves: ClassVar[Mapping[str, Move]] = {}

    def __init__(
        self,
        state: State,
        settings: dict[str, Any],
        *,
        balance: str = "10000.00",
        journal: Path | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.seed = state.seed
        self.clock = clock or Clock()
        self.lock = threading.RLock()
        self.journal = Journal(journal)
        self._state = state
        done = self.journal.begin(settings)
        for entry in done:
            self._repeat(entry)
        if not done:
            self.act("set_balance", available=balance)

    def act(self, name: str, /, **arguments: Any) -> Any:
        """Do one of ``acts``, and write it into the journal if it succeeds."""
        with self.looking() as state:
            result = self._do(name, arguments)
            self.journal.write(name, state.now, arguments)
            return result

    @contextmanager
    def looking(self) -> Iterator[State]:
        """Hold the lock and lend the state, settled at the clock's instant, for reading."""
        with self.lock:
            self._settle(max(self.clock.now(), self._state.now))
            yield self._state

    def look(self, question: Callable[..., Answer], *arguments: Any) -> Answer:
        """Return the answer of a function that reads the state and does not change it."""
        with self.looking() as state:
            return question(state, *arguments)

    def move_clock(self, to: datetime | None = None, *, by: timedelta = timedelta(0), running: bool = True) -> datetime:
        """Move the clock to an instant, or by a duration, where it continues or stops. Raises ClockError."""
        with self.lock:
            self.clock.set((to or self.clock.now()) + by, running=running)
            arguments = {"offset": self.clock.offset.total_seconds(), "stopped_at": self.clock.stopped_at}
            self.journal.write("clock", self.clock.now(), arguments)
            with self.looking():
                return self.clock.now()

    def counts(self) -> dict[str, Any]:
        """Return how many rows of each table there are, by status or in all, for the controls."""
        return {}

    def _do(self, name: str, arguments: dict[str, Any]) -> Any:
        return self.acts[name](self._state, **arguments)

    def _settle(self, now: datetime) -> None:
        """Make every move that is due until ``now``, each at its own instant and in order."""
        state = self._state
        while state.due and state.due[0][0] <= now:
            state.now, _, kind, id = heapq.heappop(state.due)
            self.moves[kind](state, id)
        state.now = now

    def _repeat(self, entry: dict[str, Any]) -> None:
        """Repeat an act of the journal at its instant."""
        name = entry["act"]
        arguments = unpack(entry)
        if name == "clock":
            offset = timedelta(seconds=arguments["offset"])
            self.clock.restore(offset=offset, stopped_at=arguments["stopped_at"])
            return
        self._settle(datetime.fromisoformat(entry["at"]))
        self._do(name, arguments)


World = TypeVar("World", bound=Marketplace[Any])


class PersonActs(Generic[World]):
    """The acts of people at a marketplace's site. Faults name them as operations."""

    def __init__(self, world: World, plan: FaultPlan) -> None:
        self._world = world
        self._plan = plan

    def let_time_pass(self, operation: str) -> None:
        """Move the clock before an act where a fault says so."""
        for fault in self._plan.happening(operation, "clock"):
            by = timedelta(seconds=fault.settings["seconds"])
            self._world.move_clock(by=by, running=self._world.clock.running)
