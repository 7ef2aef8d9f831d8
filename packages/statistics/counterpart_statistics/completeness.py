"""Completeness of a pool: how many matches exist, including those that judging did not find. Pure.

Two kinds of estimate, of the matches of all queries in one direction:

- Capture-recapture takes annotators as traps that caught matches independently. But they depend on each other: what
  one misses the others often miss too, which makes estimates too low, or they avoid each other's matches, which makes
  them too high. So no estimate is a bound, not even with dependence (sample coverage, the two log-linear models).
- By parts: what was found, what a calibrated model expects among the listed pairs without a judgment, and what random
  pairs outside all lists (the negative controls) say of the rest, all corrected for wrong votes.

docs/benchmarks.md has how far both are from the truth.
"""

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterpart_metrics.figures import percentiles
from counterpart_statistics.random_pairs import ControlVotes, Estimate, learn_from_controls
from counterpart_statistics.vote_errors import Wrong

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

MOST = 12  # annotators: 4,096 capture histories
ITERATIONS = 50  # of Newton's method
CLOSE = 1e-7  # change of a parameter that ends it
RIDGE = 1e-9
FARTHEST = 30.0  # no history's mean leaves e^±30
NEGLIGIBLE = 0.1  # part of a total that may be unknown
EXTRAPOLATED = 2.0  # upper limit of the extrapolated matches, as a multiple of their estimate
WEAK = 100.0  # inverse strength of the logistic regression's penalty: keeps separable data finite


def capture_cells(caught: ArrayLike) -> Floats:
    """Count the matches of each capture history: (2^A,). The first history, never caught, has 0.

    ``caught`` (n, A) says which annotators proposed each match; annotator a is bit a of the history's number. Raises
    ValueError for a match that none proposed.
    """
    flags = np.asarray(caught, bool)
    if flags.ndim != 2 or not 1 <= flags.shape[1] <= MOST:
        raise ValueError(f"Captures must be a table of matches by 1 to {MOST} annotators, not {flags.shape}.")
    if missing := int((~flags.any(axis=1)).sum()):
        raise ValueError(f"{missing} matches were proposed by no annotator. Leave them out.")
    return np.bincount(flags @ (1 << np.arange(flags.shape[1])), minlength=2 ** flags.shape[1]).astype(float)


def chapman(cells: Floats) -> float:
    """Return the median over pairs of annotators of (n1 + 1)(n2 + 1) / (m + 1) - 1, m caught by both (Chapman 1951;
    Lincoln and Petersen's without its bias). Never less than what was found."""
    flags = histories(len(cells))
    caught = cells @ flags
    pairs = [
        (caught[a] + 1) * (caught[b] + 1) / (cells @ (flags[:, a] & flags[:, b]) + 1) - 1
        for a, b in combinations(range(flags.shape[1]), 2)
    ]
    return max(float(np.median(pairs)), float(cells.sum())) if pairs else float(cells.sum())


def chao(cells: Floats) -> float:
    """Return D + (A - 1)/A f1 (f1 - 1) / (2 (f2 + 1)), f_j caught by j annotators (Chao 1987)."""
    found = _frequencies(cells)
    a = histories(len(cells)).shape[1]
    twice = found[2] if a > 1 else 0.0
    return float(found.sum() + (a - 1) / a * found[1] * (found[1] - 1) / (2 * (twice + 1)))


def sample_coverage(cells: Floats) -> float:
    """Return D / C + f1 / C g², with sample coverage C = 1 - (f1 - 2 f2 / (A - 1)) / sum(j f_j) and g the coefficient
    of variation of the matches' chances (Lee and Chao 1994, model M_th). Infinite if every match was caught once."""
    found = _frequencies(cells)
    caught = cells @ histories(len(cells))
    a = len(caught)
    total = found.sum()
    times = np.arange(a + 1)
    if a < 2 or not total:
        return float(total)
    coverage = 1 - (found[1] - 2 * found[2] / (a - 1)) / (times @ found)
    if coverage <= 0:
        return float("inf")
    crossed = caught.sum() ** 2 - (caught**2).sum()  # twice the sum over pairs of annotators
    variation = max(total / coverage * (times * (times - 1) @ found) / crossed - 1, 0.0) if crossed else 0.0
    return float(total / coverage + found[1] / coverage * variation)


def _with_interactions(cells: Floats) -> Floats:
    """Return the design of the log-linear model with the interactions of pairs of annotators that BIC chooses one by
    one (Fienberg 1972): a row for each history but that of zeros, a column a parameter."""
    design, flags = _independent(cells)
    left = [flags[:, a] * flags[:, b] for a, b in combinations(range(flags.shape[1]), 2)]
    best = _fit(design, cells[None, 1:]).bic[0]
    # As many parameters as histories would fit any counts.
    while left and design.shape[1] < len(flags) - 1:
        criteria = [_fit(np.column_stack([design, term]), cells[None, 1:]).bic[0] for term in left]
        chosen = int(np.argmin(criteria))
        if not criteria[chosen] < best:
            break
        best = criteria[chosen]
        design = np.column_stack([design, left.pop(chosen)])
    return design


def _with_heterogeneity(cells: Floats) -> Floats:
    """Return the design of the log-linear model in which matches differ in how easily they are found: the number of
    captures squared, by two, in addition to the annotators (Darroch et al. 1993)."""
    design, flags = _independent(cells)
    return np.column_stack([design, flags.sum(axis=1) ** 2 / 2]) if flags.shape[1] > 2 else design


def _independent(cells: Floats) -> tuple[Floats, Floats]:
    flags = histories(len(cells))[1:].astype(float)
    return np.column_stack([np.ones(len(flags)), flags]), flags


FORMULAS: Mapping[str, Callable[[Floats], float]] = {
    "Chapman": chapman,
    "Chao": chao,
    "sample coverage": sample_coverage,
}
MODELS: Mapping[str, Callable[[Floats], Floats]] = {
    "log-linear": _with_interactions,
    "log-linear, heterogeneous": _with_heterogeneity,
}


def capture_estimates(
    caught: ArrayLike, queries: ArrayLike, *, confidence: float = 0.95, samples: int = 200, seed: int = 0
) -> dict[str, Estimate]:
    """Return every estimate of ``FORMULAS`` and ``MODELS`` with its resampling interval: percentiles of the estimate
    on queries drawn with replacement.

    Args:
        caught: (n, A), which annotators proposed each match that was found.
        queries: (n,), the query of each match: the matches of a query are drawn together.
        samples: number of resamples.

    The interval says how far the estimate moves with other queries of the kind. It says nothing of matches that no
    annotator finds, so it holds the true number seldom. A model's interactions are chosen once, on all matches. Raises
    ValueError without any match.
    """
    flags = np.asarray(caught, bool)
    asked = np.unique(np.asarray(queries), return_inverse=True)[1]
    cells = capture_cells(flags)
    if not len(flags):
        raise ValueError("No match was found, so nothing says how many are missing.")
    of_query = np.zeros((asked.max() + 1, len(cells)))
    np.add.at(of_query, (asked, flags @ (1 << np.arange(flags.shape[1]))), 1)
    rng = np.random.default_rng(seed)
    resampled = rng.multinomial(len(of_query), np.full(len(of_query), 1 / len(of_query)), samples) @ of_query
    counted = np.concatenate([cells[None], resampled])
    values = {name: np.array([method(sample) for sample in counted]) for name, method in FORMULAS.items()}
    values |= {name: _unseen(choose(cells), counted) for name, choose in MODELS.items()}
    return {name: _interval(found, confidence) for name, found in values.items()}


def _interval(values: Floats, confidence: float) -> Estimate:
    """Return the first value with the percentiles of the others, which are resamples."""
    low, high = percentiles(values[1:], confidence)
    return Estimate(float(values[0]), min(float(values[0]), low), max(float(values[0]), high))


NEVER = Estimate(0.0, 0.0, 0.0)
RIGHT = Wrong(NEVER, NEVER)


class Parts(NamedTuple):
    """Estimated matches: ``found`` by the verdicts; true ones among the ``judged`` pairs, among the ``listed`` ones
    without a judgment and ``outside`` all lists; and the ``total`` of these three.

    ``is_separable``: whether matches among listed pairs can be distinguished from mistakes: verdicts are expected to
    call more of them matches than mistakes alone would explain.
    """

    found: int
    judged: Estimate
    listed: Estimate
    outside: Estimate
    total: Estimate
    is_separable: bool = True

    @property
    def is_estimable(self) -> bool:
        """Whether the interval of the total is at most as wide as the total, and listed pairs that cannot be
        distinguished from mistakes are at most a tenth of it."""
        is_narrow = self.total.high - self.total.low <= self.total.value
        return is_narrow and (self.is_separable or self.listed.high <= NEGLIGIBLE * self.total.value)


class Beyond(NamedTuple):
    """What is known of pairs that no list of a direction holds.

    Attributes:
        pairs: number of all of them.
        rate: share of matches among random pairs outside the lists of both directions.
        probed: number of pairs that these were drawn from.
        reverse: number of pairs of the same queries that only the other direction's lists hold, with the number of
            matches ``expected`` among them: they are likelier matches, which the random pairs do not represent.
    """

    pairs: int
    rate: Estimate
    probed: int = 1
    reverse: int = 0
    expected: float = 0.0


def expected_matches(ranks: ArrayLike, gains: ArrayLike) -> Floats:
    """Return (n,) the gain of each judged pair and, by a logistic regression on the ranks that learns from the judged
    pairs that are listed, the chance of each other pair to be a match. Arguments as of ``estimate_by_parts``."""
    positions = np.asarray(ranks, float)
    known = np.asarray(gains, float)
    learned = ~np.isnan(known) & (positions > 0).any(axis=1)
    return np.where(np.isnan(known), _chances(_features(positions), known, learned), known)


def estimate_by_parts(ranks: ArrayLike, gains: ArrayLike, beyond: Beyond, *, wrong: Wrong = RIGHT) -> Parts:
    """Estimate all matches from the pairs that a direction's lists hold, and from random pairs outside them.

    Among the listed pairs without a judgment, matches are those of ``expected_matches``. That extrapolates from the top
    of the lists, and the data do not show its error, so by convention the interval is from none to twice as many.
    From judged and listed pairs, those that wrong verdicts make are taken off (``_corrected``). The intervals of all
    three parts are added, which is cautious.

    Args:
        ranks: (n, A), rank of each pair in each annotator's list, 0 where it is not listed. Judged pairs that no
            annotator lists in this direction are counted, but nothing is learned from them.
        gains: (n,), 1 for a match, 0 for a judged pair that does not match, NaN without a judgment.
        wrong: how often verdicts are.
    """
    known = np.asarray(gains, float)
    judged = ~np.isnan(known)
    is_listed = (np.asarray(ranks) > 0).any(axis=1)
    found = int(known[judged].sum())
    expected = float(expected_matches(ranks, gains)[~judged].sum())
    right = _corrected(Estimate(found, found, found), int(judged.sum()), wrong)
    unjudged = int((~judged).sum())
    listed = _corrected(Estimate(expected, 0.0, EXTRAPOLATED * expected), unjudged, wrong)
    outside = _outside(beyond, float(known[judged & ~is_listed].sum()), wrong)
    is_separable = not unjudged or expected > wrong.yes.high * unjudged
    return Parts(found, right, listed, outside, _sum(right, listed, outside), is_separable)


def enough_random_pairs(
    parts: Parts, beyond: Beyond, votes: ControlVotes, every: ControlVotes | None = None
) -> int | None:
    """Return how many random pairs, judged as those of ``votes`` (and ``every``, as of ``learn_from_controls``), would
    make ``parts`` estimable: the number that there is, doubled until it is enough. None where even ``beyond.probed``
    would not be."""
    n = np.asarray(votes.yes).size
    factor = 2
    while n and factor * n <= beyond.probed:
        learned = learn_from_controls(votes.times(factor), every=every and every.times(factor))
        more = beyond._replace(rate=learned.rate)
        outside = _outside(more, 0.0, RIGHT)
        if parts._replace(total=_sum(parts.judged, parts.listed, outside)).is_estimable:
            return factor * n
        factor *= 2
    return None


def _corrected(matches: Estimate, pairs: int, wrong: Wrong) -> Estimate:
    """Return the true number of matches among ``pairs`` where verdicts call ``matches`` of them so: (matches -
    yes pairs) / (1 - yes - no), in 0 to ``pairs`` (Rogan and Gladen 1978). Each end is at the errors that move it
    furthest. NaN where verdicts carry no information."""
    ends = [(wrong.yes.value, wrong.no.value), (wrong.yes.high, wrong.no.low), (wrong.yes.low, wrong.no.high)]
    return Estimate(
        *(
            min(max((count - yes * pairs) / (1 - yes - no), 0.0), float(pairs)) if yes + no < 1 else np.nan
            for count, (yes, no) in zip(matches, ends, strict=True)
        )
    )


def _outside(beyond: Beyond, found: float, wrong: Wrong) -> Estimate:
    """Return the matches among the pairs outside the lists, but for those that were ``found`` there."""
    expected = _corrected(Estimate(beyond.expected, beyond.expected, beyond.expected), beyond.reverse, wrong)
    rates = [
        (rate * beyond.probed + matches) / (beyond.probed + beyond.reverse)
        for rate, matches in zip(beyond.rate, expected, strict=True)
    ]
    return Estimate(*(rate if np.isnan(rate) else max(beyond.pairs * rate - found, 0.0) for rate in rates))


def _sum(*parts: Estimate) -> Estimate:
    return Estimate(*(float(sum(ends)) for ends in zip(*parts, strict=True)))


def _features(ranks: Floats) -> Floats:
    """Return, for each annotator, whether it lists the pair and how high, by the logarithm of the rank."""
    deepest = np.log(ranks.max(initial=1.0) + 1)
    is_listed = ranks > 0
    return np.column_stack([np.where(is_listed, deepest - np.log(np.maximum(ranks, 1)), 0.0), is_listed])


def _chances(features: Floats, gains: Floats, learned: Flags) -> Floats:
    """Return the chance (n,) of each pair to be a match, from the ``learned`` ones; NaN if there are none."""
    if len(np.unique(gains[learned])) < 2:  # all judged pairs are matches, or none
        return np.full(len(gains), gains[learned][0] if learned.any() else np.nan)
    from sklearn.linear_model import LogisticRegression  # a tenth of a second of every start

    model = LogisticRegression(C=WEAK, solver="newton-cholesky")
    model.fit(features[learned], gains[learned] > 0)
    return np.asarray(model.predict_proba(features)[:, 1], float)


def histories(n: int) -> Flags:
    """Return the n = 2^A capture histories as flags (2^A, A)."""
    return (np.arange(n)[:, None] >> np.arange(n.bit_length() - 1) & 1).astype(bool)


def _frequencies(cells: Floats) -> Floats:
    """Return f_j, the number of matches caught by j annotators, j = 0..A."""
    return np.asarray(np.bincount(histories(len(cells)).sum(axis=1), cells, len(cells).bit_length()), float)


class _Fit(NamedTuple):
    first: Floats
    bic: Floats


def _unseen(design: Floats, cells: Floats) -> Floats:
    """Return, for each row of ``cells`` (S, 2^A), what was caught and what the model expects of the history of zeros,
    for which every column of the design but the first is 0."""
    return np.asarray(cells.sum(axis=1) + np.exp(np.clip(_fit(design, cells[:, 1:]).first, -FARTHEST, FARTHEST)))


def _fit(design: Floats, counts: Floats) -> _Fit:
    """Fit a Poisson log-linear model to each row of ``counts`` (S, histories) by Newton's method; return the first
    parameter and the BIC of each, (S,)."""
    fitted = counts + 0.5
    found: Floats = np.zeros((len(counts), design.shape[1]))
    ridge = RIDGE * np.eye(design.shape[1])
    for _ in range(ITERATIONS):
        weighted = design.T * fitted[:, None, :]
        aim = fitted * np.log(fitted) + counts - fitted
        moved = np.linalg.solve(weighted @ design + ridge, (aim @ design)[..., None])[..., 0].astype(float)
        fitted = np.exp(np.clip(moved @ design.T, -FARTHEST, FARTHEST))
        converged = np.abs(moved - found).max() < CLOSE
        found = moved
        if converged:
            break
    likelihood = (counts * np.log(fitted) - fitted).sum(axis=1)
    return _Fit(found[:, 0], design.shape[1] * np.log(np.maximum(counts.sum(axis=1), 1)) - 2 * likelihood)
