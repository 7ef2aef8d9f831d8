"""The queries of a round in arrays: their pairs, what was judged of them, and what that says of the others."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterpart_statistics.estimation import (
    expected_mean,
    folds_of,
    given_item_labels,
    given_labels,
    level_thresholds,
    pair_features,
    pool_metrics,
    query_effect,
)
from counterpart_statistics.pair_codes import ids_in

GAINS = (1.0, 0.5, 0.0, 0.0)
"""Of the levels 1 to 4 (ECCV Caption, equation E.4)."""

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]


def gains_of(levels: ArrayLike) -> Floats:
    """Return the gain of each level by ``GAINS``; NaN where it is NaN."""
    known = np.asarray(levels, np.float64)
    places = np.nan_to_num(known, nan=len(GAINS)).astype(int) - 1
    return np.where(np.isnan(known), np.nan, np.array(GAINS)[places])


@dataclass(frozen=True)
class PooledQueries:
    """The queries of one direction with the pairs of the pool and the matches known beforehand, padded to J places.

    Attributes:
        models: M names; the annotators of the pool come first.
        ranks: (M, Q, J) as in ``pool_metrics``.
        scores: (A, Q, J) of the annotators, NaN where their lists do not hold the item.
        depth: length of the annotators' lists.
        levels: (Q, J), NaN for pairs without a verdict; pairs known to match have 1, unused places 4.
        known: (Q, J) gains of pairs that cost no judgment, also of unused places; NaN for the others.
        codes: (Q, J) of the pairs, as ``pair_codes`` makes them; 0 at unused places.
        keys: (Q,) of the queries in the source data, ascending.
        images: (Q,) id of each query's own image.
    """

    models: tuple[str, ...]
    ranks: Ids
    scores: Floats
    depth: int
    levels: Floats
    known: Floats
    codes: Ids
    keys: tuple[str, ...]
    images: Ids

    @cached_property
    def gains(self) -> Floats:
        """(Q, J) by ``GAINS``, NaN for pairs without a verdict."""
        return gains_of(self.levels)

    @property
    def asked(self) -> NDArray[np.bool_]:
        """(Q, J): the pairs that a round of all pairs would ask."""
        return np.isnan(self.known)

    @property
    def is_complete(self) -> NDArray[np.bool_]:
        """(Q,): whether every pair of the query has a verdict."""
        return np.asarray(~np.isnan(self.levels).any(axis=1))


@dataclass(frozen=True)
class WholeQueries:
    """The queries of one direction of a round, and which of them were judged whole.

    Attributes:
        name: of the round.
        direction: "i2t" where images are the queries, "t2i" where captions are.
        seed: of the folds and of the draws.
        place: (Q,) each query's place in the order in which the design drew them, from 0; -1 if it was not drawn.
        asked_of: models whose first items were asked: the pool's annotators, and those that it was topped up for.
        opened: (Q, J) pairs that the order of likely matches has come to. Their labels are known, in audited queries
            and in others alike.
    """

    name: str
    direction: str
    seed: int
    queries: PooledQueries
    place: NDArray[np.int64]
    asked_of: frozenset[str]
    opened: NDArray[np.bool_]

    def drawing(self, keys: Iterable[str]) -> "WholeQueries":
        """Return what is known if the queries of these keys had been drawn, in this order."""
        places = {key: place for place, key in enumerate(keys)}
        return replace(self, place=np.array([places.get(key, -1) for key in self.queries.keys]))

    def first(self, count: int) -> "WholeQueries":
        """Return what is known if only the first ``count`` queries had been drawn."""
        return replace(self, place=np.where(self.place < count, self.place, -1))

    @property
    def estimand(self) -> str:
        """Whose matches count: those of the pool, or of the pool with the first items of further models."""
        is_wide = len(self.asked_of) > len(self.queries.scores)
        return f"{'wide pool' if is_wide else 'pool'} of {self.name}"

    @property
    def drawn(self) -> NDArray[np.bool_]:
        """(Q,) whether the design drew the query."""
        return self.place >= 0

    @cached_property
    def audited(self) -> NDArray[np.bool_]:
        """(Q,) whether the query was drawn and is judged whole."""
        return self.drawn & self.queries.is_complete

    @property
    def matches(self) -> NDArray[np.bool_]:
        """(Q, J) whether the pair costs a judgment and its verdict is a match."""
        return np.asarray(self.queries.asked & (np.nan_to_num(self.queries.gains) > 0))

    @cached_property
    def metrics(self) -> Floats:
        """(K, M, Q): the metrics of audited queries; those of others are of no use."""
        gains = np.where(self.audited[:, None], np.nan_to_num(self.queries.gains), 0.0)
        return pool_metrics(self.queries.ranks, gains)

    @cached_property
    def proxy(self) -> Floats:
        """(K, M, Q): the expected metrics; 0 where every query was audited and needs none."""
        return np.zeros_like(self.metrics) if self.audited.all() else self.expectations[1]

    @cached_property
    def probability(self) -> Floats:
        """(Q, J): the probability of a match, 0 for pairs that cost nothing; learned from the annotators' lists and the
        labels of audited queries and opened pairs, each query's from the labels of other images alone."""
        return np.where(self.queries.asked, self._thresholds[..., 0], 0.0)

    @cached_property
    def expectations(self) -> tuple[Floats, Floats]:
        """The ``probability`` (Q, J) and the expected metrics (K, M, Q), learned from the same labels."""
        return self.probability, self._expected(self._thresholds)

    def expectations_without(self, annotators: Container[str]) -> tuple[Floats, Floats]:
        """Return the ``expectations`` as they are if some of the annotators' lists are not known."""
        thresholds = self._learned(annotators)
        return np.where(self.queries.asked, thresholds[..., 0], 0.0), self._expected(thresholds)

    @cached_property
    def _thresholds(self) -> Floats:
        return self._learned(())

    def _learned(self, without: Container[str]) -> Floats:
        """Return (Q, J, T): the probabilities of a match, and of a full match where that is another question."""
        full, match = np.moveaxis(self.level_thresholds((1, 2), without=without), -1, 0)
        return match[..., None] if np.array_equal(full, match) else np.stack([match, full], axis=-1)

    def level_thresholds(self, thresholds: Sequence[int], *, without: Container[str] = ()) -> Floats:
        """Return (Q, J, T): the probability that the level of each pair is at most each of ``thresholds``, as
        ``probability`` is learned, but ``without`` the lists of some annotators."""
        queries = self.queries
        levels = np.where(queries.asked & (self.audited[:, None] | self.opened), queries.levels, np.nan)
        listing = [number for number in range(len(queries.scores)) if queries.models[number] not in without]
        features = pair_features(queries.ranks[listing], queries.scores[listing], queries.depth)
        folds = folds_of(queries.images, seed=self.seed)
        return level_thresholds(features, levels, folds, thresholds=thresholds)

    @cached_property
    def after_opened(self) -> Floats:
        """(Q, J): the ``probability`` after the labels of opened pairs, for the order of likely matches alone. Those of
        its own query show whether it has many matches, those of other queries on its item whether that matches many.

        Both are known in audited queries and in others alike, so that the order treats them alike (docs/estimation.md,
        formula 12). Of what was judged but not opened, only the spread of what the pairs of a query share is learned.
        """
        asked = self.queries.asked
        p = self._thresholds[..., 0]
        opened = self._labels(self.opened)
        known = self._labels(self.opened | self.audited[:, None])
        tau = query_effect(p, known, ~np.isnan(known).all(axis=1))
        images, captions = ids_in(self.queries.codes)
        items = captions if self.direction == "i2t" else images
        found = np.zeros(p.shape)
        found[asked] = given_item_labels(given_labels(p, opened, tau)[asked], opened[asked], items[asked])
        return found

    def _labels(self, which: NDArray[np.bool_], gain: float = 0.5) -> Floats:
        """Return (Q, J): whether the gain of those of ``which`` that were judged is at least ``gain``; else NaN."""
        gains = np.where(self.queries.asked & which, self.queries.gains, np.nan)
        return np.where(np.isnan(gains), np.nan, gains >= gain)

    def _expected(self, thresholds: Floats) -> Floats:
        """Return (K, M, Q): the expected metrics after the labels of the query's own opened pairs. The spread of what
        the pairs of a query share is learned from the audit alone."""
        queries = self.queries
        tau = query_effect(thresholds[..., 0], self._labels(self.audited[:, None]), self.audited)
        after = [
            given_labels(one, self._labels(self.opened, gain), tau)
            for gain, one in zip((0.5, 1.0), np.moveaxis(thresholds, -1, 0), strict=False)
        ]
        falling = np.minimum.accumulate(np.stack(after, axis=-1), axis=-1)
        known = np.where(self.opened, queries.gains, queries.known)
        return expected_mean(queries.ranks, falling, known, tau, seed=self.seed)
