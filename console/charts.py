"""Charts as numbers that a template draws: no picture library, no script."""

from collections.abc import Mapping
from dataclasses import dataclass

from hits.question import Level


@dataclass(frozen=True)
class Segment:
    """One level's part of a bar, in percent of its length from the left."""

    level: int
    label: str
    count: int
    start: float
    length: float


def level_bar(counts: Mapping[int, int]) -> list[Segment]:
    """Lay the four levels' counts end to end; empty where nothing was counted."""
    total = sum(counts.values())
    segments: list[Segment] = []
    start = 0.0
    for level in Level if total else ():
        length = 100 * counts.get(level.value, 0) / total
        segments.append(
            Segment(level.value, level.label, counts.get(level.value, 0), round(start, 3), round(length, 3))
        )
        start += length
    return segments
