"""Automatic rejections: unlikely, unjudged pairs of a round, with a random sample of them that people judged.

They are not judgments: a version lists them apart, does not train on them, and states how many matches they may hide.
"""

import csv
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from core.text import counted
from counterpart_statistics.random_pairs import exact_interval
from dataset.versions.file_rows import PairVerdict
from dataset.versions.merging import Pair
from hits.models import Item, Round, TopUp

CONFIDENCE = 0.95
ALLOWED = 0.05
"""The share of matches among rejected pairs up to which they count: the bound that their sample proves."""


class RejectedPair(NamedTuple):
    """A row of a version's file of rejections. ``below``: the probability of a match up to which the round rejected;
    ``asked``: 1 for a pair of the sample that people judged."""

    image: str
    caption: str
    round: str
    below: str
    asked: int


@dataclass(frozen=True)
class Rejections:
    """The pairs that a round rejects up to the probability ``below``, and the sample ``asked`` of people."""

    round: str
    below: float
    pairs: frozenset[Pair]
    asked: frozenset[Pair]

    def figures(self, verdicts: Mapping[Pair, PairVerdict], positive_levels: Container[int]) -> dict[str, Any]:
        """Return the figures of a manifest: the pairs of the zone, the sample's size and matches, and the bound. A
        pair of the sample without a verdict counts as a match."""
        matches = sum(pair not in verdicts or verdicts[pair].level in positive_levels for pair in self.asked)
        # Conservative, as the sample is drawn without replacement.
        bound = exact_interval(matches, len(self.asked), 1 - CONFIDENCE)[1]
        return {
            "below": self.below,
            "pairs": len(self.pairs),
            "asked": len(self.asked),
            "matches": matches,
            "at_most": round(bound, 4),
            "confidence": CONFIDENCE,
            "counted": bound <= ALLOWED,
        }


def sentence_of(figures: Mapping[str, Any]) -> str:
    """Describe ``Rejections.figures`` in a sentence."""
    sample = f"of {counted(figures['asked'], 'random pair')} of them that people judged, {figures['matches']} matched"
    zone = f"{figures['pairs']:,} pairs of a probability of a match up to {figures['below']}"
    if not figures["counted"]:
        return f"{zone} were not rejected: {sample}, too many."
    bound = f"at most {figures['at_most']:.1%} are matches, with {figures['confidence']:.0%} confidence"
    return f"{zone} are rejected without judging them: {sample}, so {bound}."


def rejections_of(rounds: Iterable[Round]) -> list[Rejections]:
    """Return the rejections of rounds whose sample is judged, by the round's name."""
    zones = TopUp.objects.filter(round__in=list(rounds)).exclude(rejected__isnull=True)
    finished = zones.exclude(pk__in=TopUp.objects.unfinished()).select_related("round").order_by("round__name")
    found = []
    for zone in finished:
        rejected: Any = zone.rejected
        sample = Item.objects.filter(hit__top_up=zone, control=None).values_list("image__key", "caption__key")
        pairs = frozenset(map(tuple, rejected["pairs"]))
        found.append(Rejections(zone.round.name, rejected["below"], pairs, frozenset(sample)))
    return found


def rejected_rows(rejections: Iterable[Rejections]) -> Iterator[RejectedPair]:
    """Yield the rows of a version's file."""
    for one in rejections:
        for pair in sorted(one.pairs):
            yield RejectedPair(*pair, one.round, str(one.below), int(pair in one.asked))


def read_rejections(path: Path) -> list[Rejections]:
    """Return what ``rejected_rows`` wrote."""
    found: dict[tuple[str, str], list[RejectedPair]] = defaultdict(list)
    with path.open(newline="", encoding="utf-8") as file:
        for image, caption, round, below, asked in list(csv.reader(file))[1:]:
            found[round, below].append(RejectedPair(image, caption, round, below, int(asked)))
    return [
        Rejections(
            round,
            float(below),
            frozenset((row.image, row.caption) for row in rows),
            frozenset((row.image, row.caption) for row in rows if row.asked),
        )
        for (round, below), rows in found.items()
    ]


def counted_rejections(
    rejections: Sequence[Rejections], verdicts: Mapping[Pair, PairVerdict], positive_levels: Container[int]
) -> set[Pair]:
    """Return the pairs without a verdict that are rejected in a zone whose sample proves few matches."""
    return {
        pair
        for one in rejections
        if one.figures(verdicts, positive_levels)["counted"]
        for pair in one.pairs - verdicts.keys()
    }
