"""Who may work in a round of the browser pool, and how much: its capacity, the HITs of one worker, its test."""

from dataclasses import asdict, dataclass
from typing import Any

from annotation.models import QualificationTest
from core.errors import CounterpartError
from crowd import channels

MOST = 1_000_000


@dataclass(frozen=True)
class Admission:
    """How many workers may join, how many HITs one of them may take, and the test they pass before the first.
    None: any number, no test. Raises CounterpartError for numbers that would let nobody in."""

    capacity: int | None = None
    per_worker: int | None = None
    test: QualificationTest | None = None

    def __post_init__(self) -> None:
        for name in ("capacity", "per_worker"):
            wanted = getattr(self, name)
            if wanted is not None and not 1 <= wanted <= MOST:
                raise CounterpartError(f"{name} is {wanted}; give 1 to {MOST:,}, or leave it out for any number.")

    def check_channel(self, channel: str) -> None:
        """Raise CounterpartError where a platform, and not our own pool, decides who may work."""
        if self != Admission() and channels.get(channel).is_remote:
            raise CounterpartError(
                f"capacity, per_worker and test are for the browser pool; on {channel} the platform lets workers in. "
                "Leave them out."
            )

    def as_fields(self) -> dict[str, Any]:
        """The columns of a round that hold them."""
        return {"capacity": self.capacity, "per_worker": self.per_worker, "test": self.test}

    def as_data(self) -> dict[str, Any]:
        """The same for the journal; empty where everybody may come."""
        told = asdict(self) | {"test": self.test.name if self.test else None}
        return {name: value for name, value in told.items() if value is not None}
