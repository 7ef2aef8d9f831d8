"""The pairs of a round whose verdicts are in a file: conditions on a verdict, answered by the file."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from operator import and_
from typing import Any

import pyarrow.compute as pc
from django.db.models import QuerySet

from core.untrusted import whole_number
from dataset.judged.verdict_files import BY_LEVEL, CONFIDENCE, LEAST_CERTAIN, Order, pairs_in_file
from dataset.judged.verdict_worth import least_votes
from dataset.models import Aggregation
from hits.question import Level

ORDERS: dict[str, Order] = {"": (), "unsure": LEAST_CERTAIN, "level": BY_LEVEL}
"""The orders of pairs; the first is that of the file, by the keys of image and caption."""


@dataclass(frozen=True)
class FilePairs:
    """Pairs whose verdict meets a condition, in an order; where ``among`` is given, those of its pairs alone.

    A slice from the first pair on is a list, as that of a queryset.
    """

    aggregation: Aggregation
    condition: pc.Expression | None
    order: Order
    among: QuerySet[Any, tuple[int, int]] | None

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return self._read(None)

    def __getitem__(self, part: slice) -> list[tuple[int, int]]:
        return list(islice(self._read(part.stop if self.among is None else None), part.stop))

    def _read(self, n: int | None) -> Iterator[tuple[int, int]]:
        for batch in pairs_in_file(self.aggregation, self.condition, self.order, n):
            if self.among is None:
                yield from batch
                continue
            images, captions = map(set, zip(*batch, strict=True))
            kept = set(self.among.filter(image__in=images, caption__in=captions).order_by())
            yield from (pair for pair in batch if pair in kept)


def levels_of(verdict: str) -> list[int]:
    """Return the levels of a verdict: of a match (``yes``), of no match (``no``), or a single level by its number."""
    level = whole_number(verdict)
    if level is not None:
        return [level]
    return [level for level in Level if (level in (Level.YES, Level.PARTIALLY_YES)) == (verdict == "yes")]


def below(sure: int) -> float:
    """Return the bound of a probability that pages show as at most ``sure`` percent: they round down, to 99 at most."""
    return (sure + 1) / 100 if sure < 99 else 1.01


def condition_of(aggregation: Aggregation, chosen: dict[str, Any]) -> pc.Expression | None:
    """Return the conditions of a filter on a verdict and its pair, over the columns of the aggregation's file."""
    conditions = [pc.field(side) == chosen[side].key for side in ("image", "caption") if chosen[side]]
    if chosen["verdict"]:
        conditions.append(pc.field("level").isin(levels_of(chosen["verdict"])))
    if chosen["disagreement"]:
        conditions.append(CONFIDENCE <= 0.5 if chosen["disagreement"] == "yes" else CONFIDENCE > 0.5)
    if chosen["votes"]:
        conditions.append(pc.field("votes") == chosen["votes"])
    if chosen.get("sure"):
        conditions.append(pc.field("probability") < below(chosen["sure"]))
        conditions.append(pc.field("votes") >= (least_votes(aggregation.certainty) or 0))
    return reduce(and_, conditions) if conditions else None
