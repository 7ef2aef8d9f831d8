"""Faults on demand: declared as JSON, seeded, counted and cleared again. Each marketplace brings its own kinds."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from itertools import count
from random import Random
from threading import Lock
from typing import Any

from emulators.money import read_amount


class FaultError(ValueError):
    """An invalid declaration: one line that names the mistake and the choices."""


@dataclass(frozen=True)
class Setting:
    """A setting of a kind of fault: what it must be, in words and as a test."""

    wanted: str
    holds: Callable[[Any], bool]
    required: bool = True


@dataclass(frozen=True)
class Kind:
    """A kind of fault. ``help`` says what happens; ``operations`` are those it can happen to."""

    help: str
    operations: tuple[str, ...]
    settings: Mapping[str, Setting] = field(default_factory=dict)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _is_whole(value: Any, least: int = 0) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_amount(value: Any) -> bool:
    try:
        read_amount(value)
    except ValueError:
        return False
    return True


def one_of(*values: Any) -> Setting:
    return Setting("one of " + ", ".join(map(str, values)), lambda value: value in values)


SECONDS = Setting("a number of seconds, 0 or more", _is_number)
RATE = Setting("calls a second, 0 or more", _is_number, required=False)
BURST = Setting("a number of calls, 1 or more", lambda value: _is_whole(value, 1), required=False)
SIZE = Setting("a number of results, 0 or more", _is_whole)
AMOUNT = Setting('an amount such as "4.20"', _is_amount)
TRIGGERS: Mapping[str, Setting] = {
    "nth": Setting("1 or more, counted from when the fault was set", lambda value: _is_whole(value, 1)),
    "probability": Setting("a number from 0 to 1", lambda value: _is_number(value) and value <= 1),
    "seed": Setting("a whole number", _is_whole),
    "times": Setting("a number of times, 1 or more", lambda value: _is_whole(value, 1)),
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


def read_fault(given: Mapping[str, Any], kinds: Mapping[str, Kind]) -> Fault:
    """Read a declaration. Raises FaultError."""
    kind = given.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise FaultError(f"There is no fault of kind {kind!r}; choose one of: {', '.join(kinds)}.")
    own, operations = kinds[kind].settings, kinds[kind].operations
    _check_settings(kind, given, own)
    if "nth" in given and "probability" in given:
        raise FaultError(f"A {kind} fault happens to the nth call or with a probability, not both; leave one out.")
    settings = {name: given[name] for name in own if name in given}
    if ("rate" in settings) != ("burst" in settings):
        raise FaultError("A token bucket needs both rate and burst; give the other one too.")
    operation = given.get("operation", "*")
    if operation != "*" and operation not in operations:
        raise FaultError(f'A {kind} fault cannot happen to {operation!r}; name "*" or one of: {", ".join(operations)}.')
    triggers = {name: given[name] for name in TRIGGERS if name in given}
    return Fault(kind=kind, operation=operation, settings=settings, **triggers)


def _check_settings(kind: str, given: Mapping[str, Any], own: Mapping[str, Setting]) -> None:
    known = {**TRIGGERS, **own}
    if unknown := given.keys() - known.keys() - {"kind", "operation"}:
        raise FaultError(f"A {kind} fault has no setting {sorted(unknown)[0]!r}; it has: {', '.join(known)}.")
    if missing := [name for name, setting in own.items() if setting.required and name not in given]:
        raise FaultError(f"A {kind} fault needs {missing[0]}: {own[missing[0]].wanted}.")
    for name, setting in known.items():
        if name in given and not setting.holds(given[name]):
            raise FaultError(f"{name} is {given[name]!r}; it must be {setting.wanted}.")


@dataclass
class Bucket:
    """Tokens that refill at ``rate`` a second up to ``burst``; a call that finds none is refused."""

    rate: float
    burst: int
    filled_at: datetime
    tokens: float = field(init=False)

    def __post_init__(self) -> None:
        self.tokens = self.burst

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

    def __init__(self, kinds: Mapping[str, Kind], now: Callable[[], datetime]) -> None:
        self.kinds = kinds
        self._now = now
        self._lock = Lock()
        self._numbers = count(1)
        self._armed: dict[str, Armed] = {}

    def add(self, given: Mapping[str, Any]) -> str:
        """Set a fault from its declaration and return its id. Raises FaultError."""
        fault = read_fault(given, self.kinds)
        with self._lock:
            id = f"F{next(self._numbers)}"
            settings = fault.settings
            bucket = Bucket(settings["rate"], settings["burst"], self._now()) if "rate" in settings else None
            self._armed[id] = Armed(id, fault, bucket, Random(f"fault {fault.kind} {fault.seed}"))
            return id

    def clear(self, id: str) -> bool:
        """Remove a fault; False if there is none with this id."""
        with self._lock:
            return self._armed.pop(id, None) is not None

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
