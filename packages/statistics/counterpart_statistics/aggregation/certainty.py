"""How probable it is that a pair matches, given its votes: one calibrated model for every method of aggregation.

A worker has two rates: how often they call a match a match (``found``) and another pair none (``refused``). The votes
of a pair are independent given whether it matches, and Bayes' rule turns them into a probability (Dawid and Skene 1979
for two classes). A worker's rates are shrunk towards those of the crowd, as posterior means under beta distributions
(Raykar et al. 2010, section 2.5): ``(right + SHRINKAGE * rate of the crowd) / (votes + SHRINKAGE)``. The rates of the
crowd and the share of matches are the likeliest if all workers are alike. They come from gold controls, and from pairs
with several votes; a lone vote says nothing of its worker.

People who see the same difficult pair err together, so that the product of many votes is too sure. The logarithms of
the odds that the votes add are therefore divided by a temperature (Guo et al. 2017), the likeliest on the controls,
each judged by rates that were learned without it.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from counterpart_statistics.aggregation.spooled_rows import SpooledRows
from counterpart_statistics.aggregation.votes import Batch, Floats, Votes

SHRINKAGE = 5
"""Votes of the crowd's quality that every worker is given on each side beforehand."""
RIGHT = 4  # right votes that the crowd is given on each side beforehand
WRONG = 1  # wrong ones
ALIKE_ITERATIONS = 2_000
ITERATIONS = 50
TOLERANCE = 1e-4
_SPREAD = 1.0  # of the logarithm of the temperature about 0 beforehand
_HOTTEST = 20.0
DIGITS = 6
"""Of the probabilities: what another order of summation cannot change."""


@dataclass(frozen=True)
class Certainty:
    """``rows`` (items,): the probability of a match of every item, 0 or 1 for gold controls. ``prior``: the share of
    the candidates that match; ``found`` and ``refused``: the rates of the crowd; ``temperature``: 1 or more."""

    rows: SpooledRows
    prior: float
    found: float
    refused: float
    temperature: float

    def of(self, batch: Batch) -> Floats:
        return self.rows.read(batch.first, batch.last)

    @property
    def figures(self) -> dict[str, float]:
        names = ("prior", "found", "refused", "temperature")
        return {name: float(f"{getattr(self, name):.4f}") for name in names}


def certainty_of(votes: Votes, match: Collection[int] = (1, 2)) -> Certainty:
    """Return the probability that each item matches: that its level is one of ``match``. Gold controls whose possible
    levels are all on one side are known."""
    sides = _Sides(votes, np.isin(votes.levels, list(match)))
    prior, found, refused = _alike(sides.tallies())
    crowd = np.array([found, refused])
    counts = np.zeros((2, 2, len(votes.worker_names)))
    rates = _shrunk(counts, crowd)
    for _ in range(ITERATIONS):
        counts = sides.learn(sides.evidence(rates), prior)
        before = rates
        rates = _shrunk(counts, crowd)
        if np.abs(rates - before).max(initial=0) < TOLERANCE:
            break
    temperature = sides.temperature(counts, crowd)
    evidence = sides.evidence(rates) / temperature
    rows = SpooledRows(np.float64)
    for batch in votes.batches():
        rows.write(batch.first, sides.probability(batch, evidence, prior).round(DIGITS))
    return Certainty(rows, prior, found, refused, temperature)


@dataclass(frozen=True)
class _Sides:
    """Votes on the two sides of the scale. ``is_match`` (levels,): which levels are a match."""

    votes: Votes
    is_match: NDArray[np.bool_]

    @cached_property
    def _known(self) -> Floats:
        """By kind: 1 for a match, 0 for none, NaN if either is possible."""
        kinds = self.votes.kinds
        no_other = ~kinds[:, ~self.is_match].any(axis=1)
        no_match = ~kinds[:, self.is_match].any(axis=1)
        return np.where(no_other == no_match, np.nan, no_other)

    def _of(self, batch: Batch) -> Floats:
        return self._known[batch.rows["kind"]]

    def tallies(self) -> pd.DataFrame:
        """Return how many items there are of each ``side`` (NaN: unknown) with as many ``yes`` and ``no``."""
        parts = [pd.DataFrame({"side": [], "yes": [], "no": [], "items": []}, dtype=float)]
        for batch in self.votes.batches():
            yes = np.bincount(batch.items, weights=self.is_match[batch.labels], minlength=len(batch.rows))
            table = pd.DataFrame({"side": self._of(batch), "yes": yes, "no": batch.rows["votes"] - yes})
            parts.append(table.value_counts(dropna=False).rename("items").reset_index())
        return pd.concat(parts).groupby(["side", "yes", "no"], dropna=False)["items"].sum().reset_index()

    def evidence(self, rates: Floats) -> Floats:
        """Return what each cell (``votes.Batch``) adds to the logarithm of the odds of a match: (cells, 1)."""
        for_yes, for_no = _log_odds(*rates)
        of_votes = np.where(self.is_match, for_yes[:, None], for_no[:, None]).reshape(-1, 1)
        return np.concatenate([of_votes, np.zeros((len(self.votes.kinds), 1))])

    def probability(self, batch: Batch, evidence: Floats, prior: float) -> Floats:
        """Return the probability of a match of each item of a batch."""
        known = self._of(batch)
        return np.where(np.isnan(known), expit(logit(prior) + batch.by_item(evidence)[:, 0]), known)

    def learn(self, evidence: Floats, prior: float) -> Floats:
        """Return the expected votes of every worker, as of ``_shrunk``."""
        sums = np.zeros((self.votes.width, 2))
        for batch in self.votes.batches():
            match = self.probability(batch, evidence, prior)
            teaches = batch.is_gold | (batch.rows["votes"] > 1)
            sums = batch.added(np.stack([match, 1 - match], axis=1) * teaches[:, None], sums)
        by_worker = sums[: len(sums) - len(self.votes.kinds)].reshape(-1, len(self.is_match), 2)
        voted = by_worker.sum(axis=1).T
        right = np.stack([by_worker[:, self.is_match, 0].sum(axis=1), by_worker[:, ~self.is_match, 1].sum(axis=1)])
        return np.stack([right, voted])

    def temperature(self, counts: Floats, crowd: Floats) -> float:
        """Return the temperature at which the votes on known controls predict best which of them match."""
        parts = list(self._held_out(counts, crowd))
        added, is_match = (np.concatenate(one) for one in zip(*parts, strict=True)) if parts else (np.empty(0),) * 2
        start = logit((is_match.sum() + 1) / (len(is_match) + 2))
        sign = 2 * is_match - 1

        def surprise(log_temperature: float) -> float:
            logits = start + added / np.exp(log_temperature)
            return float(np.logaddexp(0, -sign * logits).sum() + (log_temperature / _SPREAD) ** 2 / 2)

        found = scipy.optimize.minimize_scalar(surprise, bounds=(0, np.log(_HOTTEST)), method="bounded")
        return float(np.exp(found.x)) if surprise(found.x) < surprise(0) else 1.0

    def _held_out(self, counts: Floats, crowd: Floats) -> Iterator[tuple[Floats, Floats]]:
        """Yield what the votes add to the logarithm of the odds of each known control, by rates that were learned
        without it, and whether it is a match (1 or 0)."""
        for batch in self.votes.batches():
            known = self._of(batch)
            which = ~np.isnan(known)[batch.items]
            workers = batch.workers[which]
            items = batch.items[which]
            yes = self.is_match[batch.labels[which]]
            match = known[items]
            own = np.stack([[match * yes, (1 - match) * ~yes], [match, 1 - match]])
            for_yes, for_no = _log_odds(*_shrunk(counts[:, :, workers] - own, crowd))
            added = np.bincount(items, weights=np.where(yes, for_yes, for_no), minlength=len(known)).astype(float)
            yield added[~np.isnan(known)], known[~np.isnan(known)]


def _shrunk(counts: Floats, crowd: Floats) -> Floats:
    """Return the rates by worker, (found and refused, workers). ``counts``: their right votes and all their votes, each
    on matches and on other pairs: (2, 2, workers)."""
    right, voted = counts
    return (right + SHRINKAGE * crowd[:, None]) / (voted + SHRINKAGE)


def _log_odds(found: ArrayLike, refused: ArrayLike) -> tuple[Floats, Floats]:
    """Return what a yes and a no add to the logarithm of the odds of a match."""
    hits = np.asarray(found)
    rejects = np.asarray(refused)
    return np.log(hits / (1 - rejects)), np.log((1 - hits) / rejects)


def _alike(tallies: pd.DataFrame) -> tuple[float, float, float]:
    """Return the share of the candidates that match and the rates of the crowd, the likeliest if all workers are alike,
    by expectation maximisation. ``tallies`` are those of ``_Sides.tallies``."""
    side, yes, no, items = tallies[["side", "yes", "no", "items"]].to_numpy(float).T
    unknown = np.isnan(side)
    prior = 0.5
    rates = np.full(2, RIGHT / (RIGHT + WRONG))
    match = np.where(unknown, prior, side)
    for number in range(ALIKE_ITERATIONS):
        # The first rates are those that the controls alone teach.
        weight = items * ~unknown if number == 0 else items
        right = np.array([(weight * match) @ yes, (weight * (1 - match)) @ no])
        voted = np.array([(weight * match) @ (yes + no), (weight * (1 - match)) @ (yes + no)])
        before = rates
        rates = (right + RIGHT) / (voted + RIGHT + WRONG)
        for_yes, for_no = _log_odds(*rates)
        match = np.where(unknown, expit(logit(prior) + yes * for_yes + no * for_no), side)
        prior = float((items[unknown] @ match[unknown] + 1) / (items[unknown].sum() + 2))
        if number and np.abs(rates - before).max() < TOLERANCE:
            break
    return prior, float(rates[0]), float(rates[1])
