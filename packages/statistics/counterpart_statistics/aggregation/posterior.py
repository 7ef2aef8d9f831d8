"""The probability that each pair matches, given its votes and how good their answer sets are.

The rate of a vote is that of its set (``crowds``), nearer to one half by a gap, as controls may be easier than pairs.
Votes are independent given whether the pair matches; k of them count as k / (1 + (k - 1) shared), as people err
together; a lone vote counts whole. The gap and the share of matches are averaged over a grid. Pairs with several votes
teach: each of their votes is worth part of an answer to a control. A lone vote teaches nothing. At last the levels
voted add what they say beyond their side; once, as repeating it runs away where wrong pairs look right.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from counterpart_statistics.aggregation.crowds import ControlAnswers, Crowd, vote_table
from counterpart_statistics.aggregation.spooled_rows import SpooledRows
from counterpart_statistics.aggregation.votes import Batch, Codes, Floats, Votes

GAPS = np.array([0, 0.01, 0.02, 0.04, 0.06, 0.09, 0.13, 0.18, 0.25, 0.35])
GAP_MEAN = 0.04  # beforehand
SHARES = np.linspace(0.01, 0.99, 50)  # of matches
TEACHES = 0.3  # what a vote on a pair with several is worth, of an answer to a control
LEVEL_VOTES = 20  # votes that the levels of a side are given beforehand
ITERATIONS = 8
TOLERANCE = 1e-3
SAMPLE = 50_000  # pairs from which the grid is learned, about
SEED = 26_046  # of their draw; not one by which a simulation may have drawn which of the pairs match
DIGITS = 6
"""Of the probabilities: what another order of summation cannot change."""
_LEAST = 1e-4  # weight of a point of the grid by that of the heaviest, below which it is left out
_FURTHEST = 50.0  # logarithm of odds at which they are cut
_TOGETHER = 8  # odds that are multiplied before a logarithm is taken: cut ones stay below the largest number
_AT_ONCE = 1_024  # products that are computed at a time


@dataclass(frozen=True)
class Part:
    """Some pairs and their votes.

    items: (pairs,) their numbers, ascending.
    several: (pairs,) whether they have more than one vote.
    weight: (pairs,) what each of their votes counts.
    by_vote: (pairs, 2 * sets) the numbers of votes of each set, against a match and for one.
    by_level: (pairs, levels) the numbers of votes at each level.
    """

    items: Codes
    several: NDArray[np.bool_]
    weight: Floats
    by_vote: sparse.csr_array
    by_level: Floats

    def odds(self, table: Floats, levels: Floats) -> Floats:
        """Return the factors by which the votes change the odds of a match, (pairs, n). ``table``: (2 * sets, n) what a
        vote adds to their logarithm; ``levels``: (levels,) what its level adds."""
        sums = self.by_vote @ table + (self.by_level @ levels)[:, None]
        sums *= self.weight[:, None]
        return np.exp(np.clip(sums, -_FURTHEST, _FURTHEST, out=sums), out=sums)


@dataclass(frozen=True)
class Pairs:
    """The pairs whose side is to be found, and their votes, a batch in memory at a time. ``is_match`` (levels,): which
    levels are a match; ``shared``: how far errors on one pair are shared."""

    votes: Votes
    answers: ControlAnswers
    is_match: NDArray[np.bool_]
    shared: float

    @cached_property
    def _known(self) -> Floats:
        """By kind of item: 1 for a match, 0 for none, NaN if either is possible."""
        kinds = self.votes.kinds
        no_other = ~kinds[:, ~self.is_match].any(axis=1)
        no_match = ~kinds[:, self.is_match].any(axis=1)
        return np.where(no_other == no_match, np.nan, no_other)

    def known(self, batch: Batch) -> Floats:
        return self._known[batch.rows["kind"]]

    def part(self, batch: Batch, places: Codes) -> Part:
        """Return the pairs at some places of a batch."""
        given = batch.rows["votes"].astype(np.int64)
        chosen = np.zeros(len(given), dtype=bool)
        chosen[places] = True
        of_votes = np.repeat(chosen, given)
        given = given[places]
        labels = batch.labels[of_votes]
        cells = batch.sets[of_votes] * 2 + self.is_match[labels]
        ends = np.concatenate([[0], np.cumsum(given)])
        levels = len(self.is_match)
        by_level = np.bincount(
            np.repeat(np.arange(len(places)), given) * levels + labels, minlength=len(places) * levels
        )
        return Part(
            items=batch.first + places,
            several=given > 1,
            weight=1 / (1 + (given - 1) * self.shared),
            by_vote=sparse.csr_array((np.ones(len(cells)), cells, ends), (len(places), 2 * len(self.answers.worker))),
            by_level=by_level.reshape(-1, levels).astype(float),
        )

    def sample(self, always: Collection[int] = ()) -> Part:
        """Return pairs at random, all where they are few, and those whose codes are ``always`` among them."""
        rng = np.random.default_rng(SEED)
        share = SAMPLE / max(self.votes.candidates, 1)
        found = []
        for batch in self.votes.batches():
            drawn = (rng.random(len(batch.rows)) < share) | np.isin(batch.rows["code"], list(always))
            found.append(self.part(batch, np.flatnonzero(drawn & np.isnan(self.known(batch)))))
        return Part(
            items=np.concatenate([one.items for one in found]),
            several=np.concatenate([one.several for one in found]),
            weight=np.concatenate([one.weight for one in found]),
            by_vote=sparse.vstack([one.by_vote for one in found], format="csr"),
            by_level=np.concatenate([one.by_level for one in found]),
        )


@dataclass(frozen=True)
class Posterior:
    """``a`` and ``b`` (sets,): of the beta distributions of their rates; ``table`` (2 * sets, gaps): what a vote of
    each set, against a match and for one, adds to the logarithm of the odds of a match; ``grid`` (gaps, shares): the
    weights; ``levels`` (levels,): what a level adds."""

    a: Floats
    b: Floats
    table: Floats
    grid: Floats
    levels: Floats

    @property
    def gap(self) -> float:
        return float(self.grid.sum(axis=1) @ GAPS)

    @property
    def prior(self) -> float:
        return float(self.grid.sum(axis=0) @ SHARES)

    def match(self, part: Part) -> Floats:
        """Return the probability of a match of each pair."""
        gaps = np.flatnonzero(self.grid.any(axis=1))
        odds = part.odds(self.table[:, gaps], self.levels)
        found = np.zeros(len(part.items))
        for place, gap in enumerate(gaps.tolist()):
            of_gap = odds[:, place].copy()
            for share in np.flatnonzero(self.grid[gap]).tolist():
                found += self.grid[gap, share] * (of_gap / (of_gap + (1 / SHARES[share] - 1)))
        return found


def posterior_of(pairs: Pairs, crowd: Crowd, sample: Part) -> tuple[Posterior, SpooledRows]:
    """Return the posterior, and the probability of a match of every item: 0 or 1 for controls of a known side."""
    rows = SpooledRows(np.float64)
    right, asked = pairs.answers.totals
    taught = np.zeros((2, len(right)))
    for _ in range(ITERATIONS):
        found = _at_rates(pairs, crowd, sample, right + taught[0], asked + taught[1])
        moved, taught, voted = _passed(pairs, found, rows)
        if moved < TOLERANCE or not voted.any():
            break
    if voted.any():
        found = replace(found, levels=level_odds(voted, pairs.is_match))
        _passed(pairs, found, rows)
    return found, rows


def _at_rates(pairs: Pairs, crowd: Crowd, sample: Part, right: Floats, asked: Floats) -> Posterior:
    a, b = crowd.counts(pairs.answers, right, asked)
    rates = crowd.by_side(a / (a + b))
    at_none, table = vote_table(rates, GAPS)
    levels = np.zeros(len(pairs.is_match))
    odds = sample.odds(table, levels)
    fits = np.stack([_fit(one) for one in odds.T])
    fits += ((sample.by_vote.T @ sample.weight) @ at_none - GAPS / GAP_MEAN)[:, None]
    grid = np.exp(fits - fits.max())
    grid[grid < _LEAST] = 0
    return Posterior(a, b, table, grid / grid.sum(), levels)


def _fit(odds: Floats) -> Floats:
    """Return the logarithm of the likelihood of each share of matches by the factors of all pairs, up to a constant."""
    rows = np.concatenate([odds, np.ones(-len(odds) % _TOGETHER)]).reshape(-1, _TOGETHER)
    total = np.zeros(len(SHARES))
    for begin in range(0, len(rows), _AT_ONCE):
        products = np.ones((len(rows[begin : begin + _AT_ONCE]), len(SHARES)))
        for factor in rows[begin : begin + _AT_ONCE].T:
            products *= 1 + SHARES * (factor[:, None] - 1)
        total += np.log(products).sum(axis=0)
    return total


def _passed(pairs: Pairs, found: Posterior, rows: SpooledRows) -> tuple[float, Floats, Floats]:
    """Write the probabilities. Return how far the furthest of them moved, the right answers and the answers that the
    votes on pairs with several are worth to each set (2, sets), and the expected votes at each level on other pairs and
    on matches with several (levels, 2)."""
    moved = 0.0 if len(rows) else np.inf
    taught = np.zeros((2, len(found.a)))
    voted = np.zeros((len(found.levels), 2))
    for batch in pairs.votes.batches():
        match = pairs.known(batch)
        part = pairs.part(batch, np.flatnonzero(np.isnan(match)))
        of_pairs = found.match(part)
        match[part.items - batch.first] = of_pairs
        if np.isfinite(moved):
            moved = max(moved, float(np.abs(match - rows.read(batch.first, batch.last)).max(initial=0)))
        rows.write(batch.first, match.round(DIGITS))
        sides = np.stack([1 - of_pairs, of_pairs], axis=1) * part.several[:, None]
        sums = (part.by_vote.T @ (sides * TEACHES * part.weight[:, None])).reshape(-1, 2, 2)
        taught += sums[:, 0, 0] + sums[:, 1, 1], sums.sum(axis=(1, 2))
        voted += part.by_level.T @ sides
    return moved, taught, voted


def level_odds(voted: Floats, is_match: NDArray[np.bool_]) -> Floats:
    """Return what each level adds to the logarithm of the odds of a match beyond its side: the logarithm of its share
    of the side's votes on matches, by that on other pairs. ``voted``: (levels, 2), on other pairs and on matches."""
    odds = np.zeros(len(is_match))
    for side in (is_match, ~is_match):
        given = voted[side] + LEVEL_VOTES / max(side.sum(), 1)
        shares = np.log(given / given.sum(axis=0))
        odds[side] = shares[:, 1] - shares[:, 0]
    return odds
