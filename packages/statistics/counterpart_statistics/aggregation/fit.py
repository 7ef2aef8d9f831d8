"""The results of a method of aggregation: shares of levels, the level of each item, and figures of the workers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from counterpart_statistics.aggregation.spooled_rows import SpooledRows
from counterpart_statistics.aggregation.votes import Batch, Floats, Votes
from counterpart_statistics.judged import MATCH

Ties = Literal["median", "lower", "higher"]
_DIGITS = 9  # of the shares of all methods but majority: what another order of summation cannot change
_COUNTED = ("votes", "agreed", "controls", "right", "trusted")  # the first columns of ``Tallies.workers``


@dataclass(frozen=True)
class Fit:
    """``rows`` (items, levels): the distributions, each sums to 1. ``skills``: the method's own figures of every
    worker, by name; ``members``: those of every annotator, if it used any."""

    rows: SpooledRows
    skills: pd.DataFrame
    members: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def distribution(self) -> Floats:
        """The distributions of all items in memory."""
        return self.rows.read()

    def of(self, batch: Batch) -> Floats:
        return self.rows.read(batch.first, batch.last)

    def sides(self, ties: "Ties") -> Callable[[Batch], NDArray[np.bool_]]:
        """Return which verdicts on the items of a batch are a match, at levels from 1 on."""
        return lambda batch: np.isin(chosen_places(self.of(batch), ties) + 1, MATCH)

    def round(self, votes: Votes) -> None:
        for batch in votes.batches():
            self.rows.write(batch.first, self.of(batch).round(_DIGITS))


@dataclass(frozen=True)
class Tallies:
    """What a count sums. The sums over two groups of items add up to those over both.

    workers: a row per worker, by name: the numbers of votes on candidates, of those that equal the level chosen, of
        votes on gold controls, and of those at a right level; the sum of the probabilities of the levels voted; and the
        expected votes by answer and level of the item (levels * levels).
    kinds: (kinds, levels) the sums of the shares of the items of each kind.
    """

    workers: pd.DataFrame
    kinds: Floats

    @classmethod
    def of(cls, votes: Votes, fit: Fit, ties: Ties, batches: Iterable[Batch] | None = None) -> "Tallies":
        """Return the sums over all items, or over those of ``batches``; ``ties`` as of ``choose_levels``."""
        workers, levels = len(votes.worker_names), len(votes.levels)
        figures = np.zeros((workers, len(_COUNTED)))
        sums = np.zeros((votes.width, levels))
        for batch in votes.batches() if batches is None else batches:
            distribution = fit.of(batch)
            agrees = chosen_places(distribution, ties)[batch.items] == batch.labels
            right = batch.possible[batch.items, batch.labels]
            gold = batch.on_gold
            for column, which in enumerate((~gold, agrees & ~gold, gold, right & gold)):
                figures[:, column] += np.bincount(batch.workers, weights=which, minlength=workers)
            np.add.at(figures[:, 4], batch.workers, np.where(gold, right, distribution[batch.items, batch.labels]))
            sums = batch.added(distribution, sums)
        by_worker = np.concatenate([figures, sums[: workers * levels].reshape(workers, levels**2)], axis=1)
        return cls(pd.DataFrame(by_worker, votes.worker_names), sums[workers * levels :])

    def plus(self, other: "Tallies", times: int = 1) -> "Tallies":
        """Return the sums with those over other items added, or with -1 ``times`` taken away."""
        workers = self.workers.add(times * other.workers, fill_value=0)
        return Tallies(workers.round(_DIGITS), (self.kinds + times * other.kinds).round(_DIGITS))

    def by_cell(self, workers: pd.Index) -> Floats:
        """Return the sums of some workers and of the kinds as a pass has them (``Votes.others``)."""
        rows = self.workers.reindex(workers, fill_value=0).to_numpy()[:, len(_COUNTED) :]
        return np.concatenate([rows.reshape(-1, self.kinds.shape[1]), self.kinds])

    def reliability(self) -> Floats:
        """Return for every worker the mean probability that the level voted is the item's; on controls the share of the
        right levels."""
        voted, _, controls, _, trusted = self._counted
        return trusted / (voted + controls)

    def described(self, skills: pd.DataFrame) -> pd.DataFrame:
        """Return a row per worker, by name, with what is known of their answers.

        votes: number of votes on candidates.
        agreement: share of those that equal the level chosen for the item.
        controls: number of votes on gold controls.
        right: share of those at a right level.
        reliability: as of the method.
        confusion: by level of the item, the estimated probabilities of the worker's answers (levels by levels), NaN for
            levels that do not occur among their items.
        The rest are the ``skills`` of the method of aggregation. Figures of no votes are NaN.
        """
        voted, agreed, controls, right, _ = self._counted
        levels = self.kinds.shape[1]
        by_answer = self.workers.to_numpy()[:, len(_COUNTED) :].reshape(-1, levels, levels)
        confusion = by_answer.transpose(0, 2, 1)
        with np.errstate(invalid="ignore"):
            table = {
                "votes": voted.astype(int),
                "agreement": agreed / voted,
                "controls": controls.astype(int),
                "right": right / controls,
                "reliability": self.reliability(),
                "confusion": (confusion / confusion.sum(axis=2, keepdims=True)).round(4).tolist(),
            }
        return pd.DataFrame(table, index=self.workers.index.rename("worker")).join(skills).sort_index()

    @property
    def _counted(self) -> Floats:
        return self.workers.to_numpy()[:, : len(_COUNTED)].T


def choose_levels(distribution: pd.DataFrame, *, ties: Ties = "median") -> pd.Series:
    """Choose the level with the largest share for every item (row) of ``distribution``.

    ``ties`` chooses among levels with equal shares: ``lower`` and ``higher`` take the tied level at that end of the
    scale; ``median`` takes the one nearest to the median answer, and the higher of two equally near. So answers
    1, 2, 3 give 2, and answers 2, 3 give 3: a tie between yes and no is not a match, because only a pair that wins its
    vote enters a dataset.

    >>> choose_levels(pd.DataFrame([[1 / 3, 1 / 3, 1 / 3, 0]], columns=[1, 2, 3, 4])).tolist()
    [2]
    """
    places = chosen_places(distribution.to_numpy(float), ties, distribution.columns.to_numpy())
    return pd.Series(distribution.columns.to_numpy()[places], index=distribution.index, name="level")


def chosen_places(shares: np.ndarray, ties: Ties, levels: np.ndarray | None = None) -> np.ndarray:
    """Return the place of the level that ``choose_levels`` chooses for each row of ``shares``; ``levels`` None means
    levels at equal distances. Raises ValueError for an unknown policy."""
    if ties not in get_args(Ties):
        raise ValueError(f"Unknown policy for ties {ties!r}: use {', '.join(get_args(Ties))}.")
    levels = np.arange(shares.shape[1]) if levels is None else levels
    wanted = {"median": _medians(shares, levels), "lower": levels[:1], "higher": levels[-1:]}[ties]
    tied = shares > shares.max(axis=1, keepdims=True) - 1e-9
    distance = np.where(tied, np.abs(levels - wanted[:, None]), np.inf)
    # Reversed, so that the first of equal distances is the higher level.
    return shares.shape[1] - 1 - distance[:, ::-1].argmin(axis=1)


def _medians(shares: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return the median answer of each row."""
    reached = shares.cumsum(axis=1)
    return (levels[(reached > 0.5 - 1e-9).argmax(axis=1)] + levels[(reached > 0.5 + 1e-9).argmax(axis=1)]) / 2
