"""Figures on a round's page: the bar of levels, and the number of verdicts."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from django.core.cache import cache

from dataset.models import Aggregation
from dataset.verdict_files import count_verdicts


@dataclass(frozen=True)
class Segment:
    """One level's part of a bar; ``start`` and ``length`` are percentages of the bar."""

    level: int
    label: str
    count: int
    start: float
    length: float


def level_bar(counts: Mapping[int, int], labels: Mapping[int, str]) -> list[Segment]:
    """Return a bar segment for each level that an answer has, under its label; empty if all counts are 0."""
    total = sum(counts.values())
    segments: list[Segment] = []
    if not total:
        return segments
    start = 0.0
    for level, label in labels.items():
        length = 100 * counts.get(level, 0) / total
        segments.append(Segment(level, label, counts.get(level, 0), round(start, 3), round(length, 3)))
        start += length
    return segments


def verdict_count(aggregation: Aggregation) -> int:
    """Return how many verdicts an aggregation has. Cached: it has others only when it was made again."""
    key = f"verdicts:{aggregation.pk}:{aggregation.at.isoformat()}"
    return int(cache.get_or_set(key, partial(count_verdicts, aggregation), timeout=86_400) or 0)
