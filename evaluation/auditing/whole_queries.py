"""The queries of a round that were judged whole: drawn by its design, or all of them."""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.progress import Progress, silent
from core.text import counted
from dataset.verdicts import votes_of
from evaluation.auditing.asked_pairs import added_pairs, opened_pairs, unasked_pairs, waiting_hits
from evaluation.auditing.estimation_inputs import LONGEST, PooledQueries, load_pooled_queries, pair_codes
from evaluation.estimation import (
    expected_metric,
    folds_of,
    given_item_labels,
    given_labels,
    level_thresholds,
    pair_features,
    pool_metrics,
    query_effect,
)
from evaluation.scores.model_rankings import first_places
from hits.judge_designs import JudgeDesign, audited_queries
from hits.models import Round
from hits.task_types import require_pairs
from hits.top_ups import design_of
from mitl.models import Direction

Floats = NDArray[np.float64]
FEW = 60
"""Audited queries below which intervals were measured to hold the truth less often than they say."""


@dataclass(frozen=True)
class WholeQueries:
    """The queries of one direction of a round, and which of them were judged whole.

    Attributes:
        place: (Q,) each query's place in the order in which the design drew them, from 0; -1 if it was not drawn.
        asked_of: models whose first items were asked: the pool's annotators, and those that it was topped up for.
        opened: (Q, J) pairs that the order of likely matches has come to. Their labels are known, in audited queries
            and in others alike.
    """

    round: Round
    direction: Direction
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
        return f"{'wide pool' if is_wide else 'pool'} of {self.round}"

    @property
    def drawn(self) -> NDArray[np.bool_]:
        """(Q,) whether the design drew the query."""
        return self.place >= 0

    @cached_property
    def audited(self) -> NDArray[np.bool_]:
        """(Q,) whether the query was drawn and is judged whole."""
        return self.drawn & self.queries.is_complete

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
        """The ``probability`` (Q, J) and the expected metrics (K, M, Q), which the same labels tell."""
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
        folds = folds_of(queries.images, seed=self.round.seed)
        return level_thresholds(features, levels, folds, thresholds=thresholds)

    @cached_property
    def after_opened(self) -> Floats:
        """(Q, J): the ``probability`` after the labels of opened pairs, for the order of likely matches alone. Those of
        its own query tell whether that has many matches, those of other queries on its item whether that matches many.

        Both are known in audited queries and in others alike, so that the order treats them alike (docs/estimation.md,
        formula 12). Of what was judged but not opened, only the spread of what the pairs of a query share is learned.
        """
        asked, p = self.queries.asked, self._thresholds[..., 0]
        opened = self._labels(self.opened)
        known = self._labels(self.opened | self.audited[:, None])
        tau = query_effect(p, known, ~np.isnan(known).all(axis=1))
        to_captions = self.direction == Direction.IMAGE_TO_CAPTION
        items = self.queries.codes & 0xFFFFFFFF if to_captions else self.queries.codes >> 32
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
        return expected_metric(queries.ranks, falling, known, tau, seed=self.round.seed).mean


def whole_queries(
    round: Round, *, share: float | None = None, seed: int = 0, merge: str = "original", progress: Progress = silent
) -> Iterator[WholeQueries]:
    """Yield the queries of each direction that was pooled. Raises CounterpartError as ``estimate_round`` says."""
    require_pairs(round)
    design = _design_of(round, share)
    waiting = waiting_hits(round)
    votes = votes_of(round, progress=progress)
    votes = votes[~votes["hit"].isin(waiting)]
    if votes.empty:
        raise CounterpartError(f"Round {round} has no judgments that count. Estimate it once work is accepted.")
    drawn = audited_queries(round.pool, design, seed if share else round.seed)
    rankings = first_places(round.pool, LONGEST)
    pooled = load_pooled_queries(
        round.pool, votes, rankings=rankings, added=added_pairs(round, finished=True), merge=merge, progress=progress
    )
    lacking = unasked_pairs(round, design, rankings, without=waiting)
    opened = opened_pairs(round)
    codes = pair_codes(*zip(*opened, strict=True)) if opened else np.zeros(0, np.int64)
    for direction, queries in pooled.items():
        asked_of = frozenset(name for name in queries.models if not lacking[name])
        nothing = np.full(len(queries.keys), -1)
        whole = WholeQueries(round, direction, queries, nothing, asked_of, np.isin(queries.codes, codes))
        whole = whole.drawing(drawn[direction])
        check_judged(whole, design)
        yield whole


def _design_of(round: Round, share: float | None) -> JudgeDesign:
    design = design_of(round, finished=True)
    if design.judge == "first-hits":
        raise CounterpartError(
            f"Round {round} asks the first hits alone, which give R@1: release it, and evaluate the version. Estimates "
            "of other metrics need a round of --judge audit."
        )
    if share and design.judge == "audit":
        raise CounterpartError(
            f"Round {round} is an audit: its design says which queries count. Leave --audit-share out."
        )
    return JudgeDesign("audit", share) if share else design


def check_judged(whole: WholeQueries, design: JudgeDesign) -> None:
    """Raise CounterpartError for a round of all pairs that is not finished, and an audit of fewer than two queries."""
    lacking = int((~whole.queries.is_complete).sum())
    if design.judge == "all" and lacking:
        raise CounterpartError(
            f"{counted(lacking, 'query lacks', 'queries lack')} verdicts in round {whole.round}, which asks all pairs: "
            "no draw says which queries are done. Estimate it once it is finished, or plan a round of --judge audit."
        )
    judged = int(whole.audited.sum())
    if judged < 2:
        raise CounterpartError(
            f"{counted(judged, 'query is', 'queries are')} judged whole of {whole.drawn.sum()} that the audit drew "
            f"({whole.direction.label}). An estimate needs two at least, and should have {FEW}."
        )
