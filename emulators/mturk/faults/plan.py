"""The faults that are set, how often each was met, and whether it happens this time."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from random import Random
from threading import Lock
from typing import Any

from emulators.mturk.faults.declaring import Fault

Now = Callable[[], datetime]


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

    def meets(self, operation: str, kinds: tuple[str, ...]) -> bool:
        return self.fault.kind in kinds and self.fault.operation in ("*", operation)

    def happens(self, now: datetime) -> bool:
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
    """All faults that are set, in the order they were set in; ``now`` is the emulator's clock."""

    def __init__(self, now: Now) -> None:
        self._now = now
        self._lock = Lock()
        self._numbers = count(1)
        self._armed: dict[str, Armed] = {}

    def add(self, fault: Fault) -> str:
        """Set a fault and return the id it can be cleared by."""
        with self._lock:
            id = f"F{next(self._numbers)}"
            settings = fault.settings
            bucket = Bucket(settings["rate"], settings["burst"], self._now()) if "rate" in settings else None
            self._armed[id] = Armed(id, fault, bucket, Random(f"fault {fault.kind} {fault.seed}"))
            return id

    def clear(self, id: str) -> bool:
        """Take a fault back; False if there was none under this id."""
        with self._lock:
            return self._armed.pop(id, None) is not None

    def clear_all(self) -> int:
        """Take every fault back and return how many there were."""
        with self._lock:
            cleared = len(self._armed)
            self._armed.clear()
            return cleared

    def happening(self, operation: str, *kinds: str) -> list[Fault]:
        """Return the faults of these kinds that happen to this call. Ask once per call: asking counts it."""
        with self._lock:
            now = self._now()
            met = [armed for armed in self._armed.values() if armed.meets(operation, kinds)]
            return [armed.fault for armed in met if armed.happens(now)]

    def as_json(self) -> list[dict[str, Any]]:
        with self._lock:
            return [armed.as_json() for armed in self._armed.values()]
