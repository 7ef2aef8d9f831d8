"""What is killed, and when: the same for the same seed."""

from dataclasses import dataclass
from random import Random

# How often each kind is drawn. A process takes seconds to come back, a connection none.
WEIGHTS = {
    "a web process": 5,
    "the whole site": 1,
    "the worker": 3,
    "the clock": 1,
    "the emulator": 2,
    "database connections": 5,
    "broker connections": 3,
}
SERVICES = ("database connections", "broker connections")  # SQLite and its broker are files
SHORTEST, LONGEST = 0.3, 3.5  # seconds between two


@dataclass(frozen=True)
class Cut:
    """``kind`` is killed ``pause`` seconds after the one before; ``pick`` (0 to 1) chooses among several processes."""

    number: int
    kind: str
    pause: float
    pick: float


def schedule(*, kills: int, seed: int, services: bool) -> list[Cut]:
    """Draw ``kills`` cuts; without ``services`` only processes are killed."""
    rng = Random(seed)
    weights = {kind: weight for kind, weight in WEIGHTS.items() if services or kind not in SERVICES}
    kinds = rng.choices([*weights], [*weights.values()], k=kills)
    return [Cut(n, kind, rng.uniform(SHORTEST, LONGEST), rng.random()) for n, kind in enumerate(kinds, 1)]
