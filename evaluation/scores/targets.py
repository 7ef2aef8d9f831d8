"""Targets: what models are scored on, and what rankings are worth there, read block by block."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError, some_of
from corpus.models import Collection
from evaluation.metrics import Metric, Qrels, RepeatedItemError, within
from evaluation.ranking_files import Block, Ids
from evaluation.scores.policies import DEFAULT, Policies
from mitl.models import Direction

Values = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """Queries of one direction that search the same gallery.

    Attributes:
        queries: (Q,) ascending, each with a match.
        judged: returns the judgments of some of these queries.
        gallery: ids of the items that count, as if no other existed (default: all).
    """

    queries: Whole
    judged: Callable[[Whole], Qrels]
    gallery: Whole | None = None

    @classmethod
    def of(cls, qrels: Qrels, gallery: Whole | None = None) -> "Part":
        return cls(
            qrels.queries[qrels.positives > 0], lambda some: qrels.of_queries(np.isin(qrels.queries, some)), gallery
        )


@dataclass(frozen=True)
class Target:
    """A version or a benchmark. ``ids`` are what rankings name its images and captions by."""

    name: str
    metrics: Mapping[str, Metric]
    parts: Mapping[Direction, Sequence[Part]]
    ids: Callable[[], Ids]

    @classmethod
    def of_collection(
        cls, name: str, collection: Collection, metrics: Mapping[str, Metric], qrels: Mapping[Direction, Qrels]
    ) -> "Target":
        parts = {direction: [Part.of(one)] for direction, one in qrels.items()}
        return cls(name, metrics, parts, cache(partial(Ids.of_collection, collection)))


@dataclass(frozen=True)
class Truncation:
    """``queries`` have more matches than entries in their list, by up to ``depth`` ranks."""

    queries: int = 0
    depth: int = 0


@dataclass
class Reading:
    """What the rankings of one model are worth on a target. Memory grows with the queries, not with the rankings.

    ``low`` and ``high`` hold an array (metrics, Q) for each part, NaN for queries without a ranking; only a policy of
    intervals tells them apart.
    """

    model: str
    target: Target
    policies: Policies = DEFAULT
    low: dict[Direction, list[Values]] = field(init=False)
    high: dict[Direction, list[Values]] = field(init=False)
    truncated: dict[Direction, Truncation] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.low, self.high = (
            {
                direction: [np.full((len(self.target.metrics), len(part.queries)), np.nan) for part in parts]
                for direction, parts in self.target.parts.items()
            }
            for _ in range(2)
        )

    @property
    def directions(self) -> list[Direction]:
        """Those with any ranking of a query."""
        return [one for one in Direction if one in self.low and any((~np.isnan(part)).any() for part in self.low[one])]

    def add(self, block: Block) -> None:
        """Score the block's queries. Raises CounterpartError for an item listed twice, and as the policies do."""
        direction, rankings = block
        for place, part in enumerate(self.target.parts[direction]):
            mine = np.isin(part.queries, rankings.queries)
            if not mine.any():
                continue
            qrels = part.judged(part.queries[mine])
            ranked = rankings.of_queries(np.isin(rankings.queries, qrels.queries))
            if part.gallery is not None:
                ranked = within(ranked, part.gallery)
            try:
                found = self.policies.extremes(ranked, qrels, self._names(direction, of_items=True))
            except RepeatedItemError as error:
                (query,) = self._names(direction)(np.array([error.query]))
                raise self._refusal(direction, f"The ranking of query {query} lists an item twice.") from error
            except ValueError as error:
                raise self._refusal(direction, str(error)) from error
            one, other = (np.stack([metric(each) for metric in self.target.metrics.values()]) for each in found)
            self.low[direction][place][:, mine] = np.fmin(one, other)
            self.high[direction][place][:, mine] = np.fmax(one, other)
            if self.policies.missing == "wrong":
                self._note_lacking(direction, found[0].qrels.positives - found[0].lengths)

    def check_covered(self) -> None:
        """Raise CounterpartError if a direction lacks rankings of some queries, with their number."""
        for direction in self.directions:
            parts = zip(self.target.parts[direction], self.low[direction], strict=True)
            missing = np.concatenate([part.queries[np.isnan(values[0])] for part, values in parts])
            if len(missing):
                of = sum(len(part.queries) for part in self.target.parts[direction])
                some = some_of(self._names(direction)(missing).tolist())
                raise self._refusal(
                    direction, f"{len(missing)} of {of} queries have no ranking: {some}. Rank every query."
                )

    def _names(self, direction: Direction, *, of_items: bool = False) -> Callable[[Whole], NDArray]:
        return lambda numbers: self.target.ids().of(direction)[of_items].names(numbers)

    def _note_lacking(self, direction: Direction, lacking: Whole) -> None:
        before = self.truncated.get(direction, Truncation())
        if (lacking > 0).any():
            self.truncated[direction] = Truncation(
                before.queries + int((lacking > 0).sum()), max(before.depth, int(lacking.max()))
            )

    def _refusal(self, direction: Direction, problem: str) -> CounterpartError:
        return CounterpartError(f"{self.model} on {self.target.name}, {direction.label}: {problem}")
