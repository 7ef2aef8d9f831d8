"""What is killed, and when: the same for the same seed."""

from collections.abc import Collection
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
    "the worker in an act of the platform": 2,
    "the database server": 1,
    "the site's clock": 1,
    "the disk": 1,
}
SERVICES = ("database connections", "broker connections", "the database server")  # SQLite and its broker are files
SHORTEST, LONGEST = 0.3, 3.5  # seconds between two


@dataclass(frozen=True)
class Cut:
    """``kind`` is killed ``pause`` seconds after the one before; ``pick`` (0 to 1) chooses among several processes."""

    number: int
    kind: str
    pause: float
    pick: float


def schedule(*, kills: int, seed: int, without: Collection[str] = ()) -> list[Cut]:
    """Draw ``kills`` cuts, of all kinds but those ``without`` which the machine or the engine can do."""
    rng = Random(seed)
    weights = {kind: weight for kind, weight in WEIGHTS.items() if kind not in without}
    kinds = rng.choices([*weights], [*weights.values()], k=kills)
    return [Cut(n, kind, rng.uniform(SHORTEST, LONGEST), rng.random()) for n, kind in enumerate(kinds, 1)]
