"""Targets: what models are scored on, and what rankings are worth there, read block by block."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from counterpart_metrics.arrays import DIRECTIONS, Floats, Integers, Qrels, Rankings, within
from counterpart_metrics.binary import Metric
from counterpart_metrics.errors import CounterpartError, some_of
from counterpart_metrics.found import Found, RepeatedItemError
from counterpart_metrics.ids import Ids
from counterpart_metrics.policies import DEFAULT, Policies
from counterpart_metrics.ranking_blocks import Block
from counterpart_metrics.run_notes import RunNotes, with_ties
from counterpart_metrics.ties import tie_extremes


@dataclass(frozen=True)
class Part:
    """Queries of one direction that search the same gallery.

    Attributes:
        queries: (Q,) ascending, each with a match.
        judged: returns the judgments of some of these queries.
        gallery: ids of the items that count, as if no other existed (default: all).
        most: the largest number of matches of a query; None where it is not known before they are judged.
    """

    queries: Integers
    judged: Callable[[Integers], Qrels]
    gallery: Integers | None = None
    most: int | None = None

    @classmethod
    def of(cls, qrels: Qrels, gallery: Integers | None = None) -> "Part":
        return cls(
            qrels.queries[qrels.positives > 0],
            lambda some: qrels.of_queries(np.isin(qrels.queries, some)),
            gallery,
            int(qrels.positives.max(initial=0)),
        )


@dataclass(frozen=True)
class Target:
    """A version or a benchmark. ``ids`` are what rankings name its images and captions by."""

    name: str
    metrics: Mapping[str, Metric]
    parts: Mapping[str, Sequence[Part]]
    ids: Callable[[], Ids]

    @classmethod
    def of(
        cls, name: str, metrics: Mapping[str, Metric], qrels: Mapping[str, Qrels], ids: Callable[[], Ids]
    ) -> "Target":
        """Return a target of the judgments ``qrels``, by direction, on the whole gallery."""
        return cls(name, metrics, {direction: [Part.of(judged)] for direction, judged in qrels.items()}, ids)


@dataclass
class Reading:
    """What the rankings of one model are worth on a target. Memory grows with the queries, not with the rankings.

    ``low`` and ``high`` hold an array (metrics, Q) for each part, NaN for queries without a ranking; they differ
    only under a policy of intervals.
    """

    model: str
    target: Target
    policies: Policies = DEFAULT
    low: dict[str, list[Floats]] = field(init=False)
    high: dict[str, list[Floats]] = field(init=False)
    seen: RunNotes = field(default_factory=RunNotes)

    def __post_init__(self) -> None:
        self.low, self.high = (
            {
                direction: [np.full((len(self.target.metrics), len(part.queries)), np.nan) for part in parts]
                for direction, parts in self.target.parts.items()
            }
            for _ in range(2)
        )

    @property
    def directions(self) -> list[str]:
        """Those with any ranking of a query."""
        return [direction for direction, parts in self.low.items() if any((~np.isnan(part)).any() for part in parts)]

    def add(self, block: Block) -> None:
        """Score the block's queries. Raises CounterpartError for an item listed twice, and as the policies do."""
        direction, rankings = block
        if direction in self.target.parts:
            self.seen.take(block, self.target.ids())
        for place, part in enumerate(self.target.parts.get(direction, ())):
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
            self.seen.found(direction, found[0], short_is_wrong=self.policies.missing == "wrong")
            if not self.policies.leave_interval:
                self._note_ties(direction, ranked, found[0], one)

    @property
    def notes(self) -> list[str]:
        """What else a reader of the figures has to know, a sentence each."""
        values = {direction: np.concatenate(self.low[direction], 1) for direction in self.directions}
        return self.seen.sentences(list(self.target.metrics), values, self.target.ids())

    def values(self) -> dict[str, dict[str, dict[str, Floats]]]:
        """Return what single queries are worth: model → direction → metric → (Q,); under a policy of intervals of the
        model at its highest and lowest. Raises CounterpartError as ``check_covered`` does."""
        self.check_covered()
        sides = {self.model: self.low}
        if self.policies.leave_interval:
            sides = {f"{self.model} (highest)": self.high, f"{self.model} (lowest)": self.low}
        return {
            model: {
                direction: dict(zip(self.target.metrics, np.concatenate(side[direction], 1), strict=True))
                for direction in self.directions
            }
            for model, side in sides.items()
        }

    def check_known(self) -> None:
        """Raise CounterpartError if no query of the target is ranked: its ids are others."""
        if not self.directions:
            sides = self.target.parts.items()
            known = [name for one, parts in sides for part in parts for name in self._names(one)(part.queries[:9])]
            raise CounterpartError(
                f"{self.model} ranks no query of {self.target.name}. Use its ids, such as {some_of(known)}."
            )

    def check_covered(self) -> None:
        """Raise CounterpartError if a direction has no rankings of some queries, with their number."""
        for direction in self.directions:
            parts = zip(self.target.parts[direction], self.low[direction], strict=True)
            missing = np.concatenate([part.queries[np.isnan(values).all(0)] for part, values in parts])
            if len(missing):
                of = sum(len(part.queries) for part in self.target.parts[direction])
                some = some_of(self._names(direction)(missing).tolist())
                raise self._refusal(
                    direction, f"{len(missing)} of {of} queries have no ranking: {some}. Rank every query."
                )

    def _names(self, direction: str, *, of_items: bool = False) -> Callable[[Integers], NDArray]:
        return lambda numbers: self.target.ids().of(direction)[of_items].names(numbers)

    def _note_ties(self, direction: str, ranked: Rankings, found: Found, values: Floats) -> None:
        tied = with_ties(ranked, found)
        if not tied.any():
            return
        some = found.qrels.of_queries(tied)
        extremes = tie_extremes(ranked.of_queries(np.isin(ranked.queries, some.queries)), some)
        one, other = (np.stack([metric(each) for metric in self.target.metrics.values()]) for each in extremes)
        self.seen.ties(direction, np.fmin(one, other), values[:, tied], np.fmax(one, other))

    def _refusal(self, direction: str, problem: str) -> CounterpartError:
        return CounterpartError(f"{self.model} on {self.target.name}, {DIRECTIONS[direction]}: {problem}")
