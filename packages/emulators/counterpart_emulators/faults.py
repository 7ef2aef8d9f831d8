"""Faults on demand: declared as JSON, seeded, counted and cleared again. Each marketplace brings its own kinds."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from itertools import count
from math import inf
from random import Random
from threading import Lock
from typing import Any

from counterpart_emulators.inputs import InputError, Setting, check_settings, number


@dataclass(frozen=True)
class FaultKind:
    """A kind of fault. ``help`` says what happens; ``operations`` are those it can happen to."""

    help: str
    operations: tuple[str, ...]
    settings: Mapping[str, Setting] = field(default_factory=dict)


TRIGGERS: Mapping[str, Setting] = {
    "nth": number("1 or more, counted from when the fault was set", least=1, whole=True),
    "probability": number("a number from 0 to 1", most=1),
    "seed": number("a whole number, 0 or more", most=inf, whole=True),
    "times": number("a number of times, 1 or more", least=1, whole=True),
}


@dataclass(frozen=True)
class Fault:
    """A declared fault. It happens to the ``nth`` call of ``operation``, or to each with ``probability``, and at most
    ``times`` times. Without either it happens to every call; ``operation`` "*" means any.
    """

    kind: str
    operation: str = "*"
    nth: int | None = None
    probability: float | None = None
    seed: int = 0
    times: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the declaration of this fault."""
        given = {name: value for name, value in asdict(self).items() if value is not None and name != "settings"}
        return {**given, **self.settings}


def read_fault(given: Mapping[str, Any], kinds: Mapping[str, FaultKind]) -> Fault:
    """Read a declaration. Raises InputError."""
    kind = given.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise InputError(f"Unknown kind of fault {kind!r}; choose one of: {', '.join(kinds)}.")
    own = kinds[kind].settings
    operations = kinds[kind].operations
    values = {name: value for name, value in given.items() if name not in ("kind", "operation")}
    check_settings(f"A {kind} fault", values, {**TRIGGERS, **own})
    if "nth" in given and "probability" in given:
        raise InputError(f"A {kind} fault happens to the nth call or with a probability, not both; leave one out.")
    settings = {name: given[name] for name in own if name in given}
    if ("rate" in settings) != ("burst" in settings):
        raise InputError("A token bucket needs both rate and burst; give the other one too.")
    operation = given.get("operation", "*")
    if operation != "*" and operation not in operations:
        raise InputError(f'A {kind} fault cannot happen to {operation!r}; name "*" or one of: {", ".join(operations)}.')
    triggers = {name: given[name] for name in TRIGGERS if name in given}
    return Fault(kind=kind, operation=operation, settings=settings, **triggers)


@dataclass
class Bucket:
    """Tokens that refill at ``rate`` a second up to ``burst``; a call that finds none is refused."""

    rate: float
    burst: int
    tokens: float
    filled_at: datetime

    def refuses(self, now: datetime) -> bool:
        passed = max(0.0, (now - self.filled_at).total_seconds())
        self.tokens = min(self.burst, self.tokens + passed * self.rate)
        self.filled_at = now
        if self.tokens < 1:
            return True
        self.tokens -= 1
        return False


@dataclass
class Armed:
    """A fault that is set: how many calls it ``met``, and to how many it ``happened``."""

    id: str
    fault: Fault
    bucket: Bucket | None
    random: Random
    met: int = 0
    happened: int = 0

    def happens(self, now: datetime) -> bool:
        """Count a call that is met, and say whether the fault happens to it."""
        self.met += 1
        if self.spent or not self._chosen(now):
            return False
        self.happened += 1
        return True

    @property
    def spent(self) -> bool:
        """Whether it can never happen again."""
        fault = self.fault
        used = fault.times is not None and self.happened >= fault.times
        return used or (fault.nth is not None and self.happened > 0)

    def _chosen(self, now: datetime) -> bool:
        if self.fault.nth is not None and self.met != self.fault.nth:
            return False
        if self.fault.probability is not None and self.random.random() >= self.fault.probability:
            return False
        return self.bucket is None or self.bucket.refuses(now)

    def as_json(self) -> dict[str, Any]:
        counts = {"id": self.id, "met": self.met, "happened": self.happened, "spent": self.spent}
        return {**self.fault.as_json(), **counts}


class FaultPlan:
    """All faults that are set, oldest first. ``kinds`` are the marketplace's; ``now`` is the emulator's clock."""

    def __init__(self, kinds: Mapping[str, FaultKind], now: Callable[[], datetime]) -> None:
        self.kinds = kinds
        self._now = now
        self._lock = Lock()
        self._numbers = count(1)
        self._armed: dict[str, Armed] = {}

    def add(self, given: Mapping[str, Any]) -> str:
        """Set a fault from its declaration and return its id. Raises InputError."""
        fault = read_fault(given, self.kinds)
        with self._lock:
            id = f"F{next(self._numbers)}"
            settings = fault.settings
            bucket = None
            if "rate" in settings:
                bucket = Bucket(settings["rate"], settings["burst"], tokens=settings["burst"], filled_at=self._now())
            self._armed[id] = Armed(id, fault, bucket, Random(f"fault {fault.kind} {fault.seed}"))
            return id

    def clear(self, fault_id: str) -> bool:
        """Remove a fault; False if there is none with this id."""
        with self._lock:
            return self._armed.pop(fault_id, None) is not None

    def clear_all(self) -> int:
        """Remove every fault and return how many there were."""
        with self._lock:
            cleared = len(self._armed)
            self._armed.clear()
            return cleared

    def happening(self, operation: str, *kinds: str) -> list[Fault]:
        """Return the faults of these kinds that happen to this call. Ask once per call: each question is counted."""
        with self._lock:
            now = self._now()
            able = [each for each in self._armed.values() if operation in self.kinds[each.fault.kind].operations]
            met = [each for each in able if each.fault.kind in kinds and each.fault.operation in ("*", operation)]
            return [armed.fault for armed in met if armed.happens(now)]

    def as_json(self) -> list[dict[str, Any]]:
        with self._lock:
            return [armed.as_json() for armed in self._armed.values()]
