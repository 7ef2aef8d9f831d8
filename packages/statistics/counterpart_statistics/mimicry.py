"""Workers who follow an annotator: they answer as its ranking says, in place of looking. Pure arrays.

The question is whether an annotator's signal, a rank or a score, explains a worker's answers beyond what it says of the
truth. ``expected_answers`` gives the probability p of a yes from all annotators' signals and the votes of others on the
same pair, learned from other workers. Honest workers and followers answer as in ``following``, whose rule the signal
*copy* of one answer set shares; here answers within one query share a shift as well. The statistic is the largest
likelihood ratio of follower to honest worker over signals, thresholds and shares. Its p-value is the share of honest
answers drawn from the worker's own model (a parametric bootstrap) that reach it, so that the choice of the signal costs
nothing more.

The p-values of all tested workers are corrected by Holm's method: a flag falls on a person, so the error that is kept
at LEVEL is that *any* honest worker of a round is flagged. Measured: flags in 2.2% of 180 rounds
of 50 honest workers, of six kinds (with ten HITs each in 6.7% of 60). Of the workers who follow always, 70% and 50% of
the time it finds 78%, 26% and 10% after three HITs, and 100%, 74% and 58% after ten; after one HIT nearly none
(docs/benchmarks.md).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit

from counterpart_statistics.estimation import folds_of, match_probability, query_effect
from counterpart_statistics.estimation.probabilities import shift_logits
from counterpart_statistics.following import CLIP, Ratios, own_chance, separation

FEWEST = 30
"""Answers that a test needs: with fewer, even a worker who always follows is rarely found."""
FEWEST_OF_EACH = 3  # yes and no
OTHERS_EACH = 8
"""Answers of others that are needed for each tested one: from fewer p is learned so badly that honest workers look like
followers. A worker with more answers is tested by as many of them, drawn at random."""
LEVEL = 0.05
"""Adjusted p-value up to which a worker is flagged."""
FOLDS = 10
DRAWS = 999
MORE_BELOW = 0.02  # p-value from which further draws are made
PART = 2_000  # draws that are made at a time
TREES_FROM = 1_000  # answers from which trees are grown
LEAF = 40  # answers of each kind from which trees are grown, and answers that a leaf has at least

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Followed:
    """What the test says of one worker.

    Attributes:
        answers, tested: all answers, and those that were tested.
        signal: number of the signal that explains the answers best.
        share: the share of the answers that follow it, of SHARES.
        auc, expected_auc: how well the signal separates the worker's yes and no, and how well it would if they were
            honest.
        p: of one worker; ``adjusted`` for the number of workers tested. All NaN where the answers are too few.
    """

    worker: int
    answers: int
    tested: int
    signal: int = -1
    share: float = np.nan
    auc: float = np.nan
    expected_auc: float = np.nan
    p: float = np.nan
    adjusted: float = np.nan

    @property
    def is_flagged(self) -> bool:
        return self.adjusted <= LEVEL


def others_votes(pairs: ArrayLike, yes: ArrayLike) -> Floats:
    """Return (N, 2) what others answered on the pair of each answer: the log odds of yes, 0 for none, and their number.
    An answer of NaN does not count as a vote.

    >>> others_votes([5, 5, 6], [1, 0, 1]).round(2).tolist()
    [[-1.1, 1.0], [1.1, 1.0], [0.0, 0.0]]
    """
    said = np.asarray(yes, np.float64)
    _, place = np.unique(np.asarray(pairs), return_inverse=True)
    positive, negative = (np.nan_to_num(votes) for votes in (said, 1 - said))
    of_yes, of_no = (np.bincount(place, votes)[place] - votes for votes in (positive, negative))
    return np.stack([np.log((of_yes + 0.5) / (of_no + 0.5)), of_yes + of_no], axis=1)


def expected_answers(features: ArrayLike, yes: ArrayLike, workers: ArrayLike, *, seed: int = 0) -> Floats:
    """Return (N,) the probability that each answer is yes, learned from the answers of other workers; NaN for answers
    that are not to be tested, as those of others are fewer than OTHERS_EACH for each.

    Args:
        features: (N, F) of the pairs: what all annotators say (``pair_features``), and ``others_votes``.
        yes: (N,) 1 or 0, NaN for answers from which nothing is to be learned.
        workers: (N,). Folds are by worker, so that no prediction for a worker is learned from their own answers.
    """
    table = np.asarray(features, np.float64)
    labels = np.asarray(yes, np.float64)
    who = np.asarray(workers)
    if table.ndim != 2 or not len(table) == len(labels) == len(who):
        raise ValueError(f"Features {table.shape}, answers {labels.shape} and workers {who.shape} must agree in N.")
    distinct, own = np.unique(who, return_inverse=True)
    folds = folds_of(np.arange(len(distinct)), folds=FOLDS, seed=seed)[own]
    expected = _refined(table, labels, folds, match_probability(table[:, None], labels[:, None], folds)[:, 0])
    known = np.bincount(own, ~np.isnan(labels))
    order = np.random.default_rng(seed).permutation(len(own))
    tested = np.empty(len(own), bool)
    tested[order] = _places(own[order]) < (known.sum() - known[own[order]]) // OTHERS_EACH
    return np.where(tested, expected, np.nan)


def _refined(features: Floats, labels: Floats, folds: Ints, expected: Floats) -> Floats:
    """Return the probabilities of boosted trees instead of the ``expected`` ones of a logistic model, if they predict
    the answers of other workers better.

    All workers may see what the logistic model cannot express, such as an annotator that is good for some queries only.
    Without trees, honest workers of many answers would then look like followers. Otherwise trees only add noise.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier  # imported late, as in ``match_probability``

    table = np.hstack([features, logit(expected)[:, None]])
    known = ~np.isnan(labels)
    if known.sum() < TREES_FROM:
        return expected
    found = expected.copy()
    for fold in np.unique(folds):
        others = (folds != fold) & known
        if min((labels[others] == 1).sum(), (labels[others] == 0).sum()) < LEAF:
            return expected
        trees = HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=8, min_samples_leaf=LEAF, random_state=0)
        trees.set_params(learning_rate=0.07, l2_regularization=5.0, early_stopping=False)
        trees.fit(table[others], labels[others])
        found[folds == fold] = trees.predict_proba(table[folds == fold])[:, 1].clip(CLIP, 1 - CLIP)
    loss = [-np.log(np.where(labels == 1, predicted, 1 - predicted)[known]).sum() for predicted in (expected, found)]
    return found if loss[1] < loss[0] else expected


def find_followers(
    yes: ArrayLike,
    workers: ArrayLike,
    queries: ArrayLike,
    probabilities: ArrayLike,
    signals: ArrayLike,
    *,
    fewest: int = FEWEST,
    seed: int = 0,
) -> list[Followed]:
    """Test each worker for following one of the signals; return them in ascending order.

    Args:
        yes: (N,) 1 or 0.
        workers, queries: (N,) whose answer it is, and on which query.
        probabilities: (N,), as ``expected_answers`` returns them; NaN for answers not to test.
        signals: (S, N), higher for likelier matches.
        fewest: answers that a test needs.
    """
    said = np.asarray(yes, np.float64)
    who = np.asarray(workers)
    asked = np.asarray(queries)
    expected = np.asarray(probabilities, np.float64)
    table = np.asarray(signals, np.float64)
    _check(said, who, asked, expected, table)
    known = ~np.isnan(expected)
    tau = _shared_shift(said[known], expected[known], who[known], asked[known])
    rows = {int(worker): np.flatnonzero((who == worker) & known) for worker in np.unique(who)}
    enough = {worker for worker, own in rows.items() if _is_enough(said[own], fewest)}
    draws = max(10 * DRAWS, 200 * len(enough))
    found = []
    for worker, own in rows.items():
        one = Followed(worker, int((who == worker).sum()), len(own))
        if worker in enough:
            honest = _Honest.fitted(said[own], expected[own], asked[own], tau)
            one = _tested(one, said[own], table[:, own], honest, draws, seed)
        found.append(one)
    return [
        replace(one, adjusted=adjusted) for one, adjusted in zip(found, holm([one.p for one in found]), strict=True)
    ]


def holm(p_values: ArrayLike) -> list[float]:
    """Return p-values corrected for their number by Holm's method, in their order; NaN is none, and stays.

    >>> [round(p, 3) for p in holm([0.01, 0.04, float("nan"), 0.03])]
    [0.03, 0.06, nan, 0.06]
    """
    values = np.asarray(p_values, np.float64)
    order = values.argsort()  # NaN last
    left = (~np.isnan(values)).sum() - np.arange(len(values))
    raised = np.maximum.accumulate(values[order] * left).clip(max=1)
    return [float(one) for one in raised[order.argsort()]]


@dataclass(frozen=True)
class _Honest:
    """How a worker answers who looks: ``chance`` (N,) of yes, whose logits share a shift within a ``query`` (N,)."""

    chance: Floats
    query: Ints
    tau: float

    @classmethod
    def fitted(cls, yes: Floats, expected: Floats, queries: NDArray[Any], tau: float) -> "_Honest":
        return cls(own_chance(yes, expected), np.unique(queries, return_inverse=True)[1], tau)

    def draw(self, number: int, rng: np.random.Generator) -> Floats:
        """Return (number, N) answers."""
        shifts = rng.normal(0, self.tau, (number, self.query.max() + 1)) if self.tau else np.zeros((1, len(self.query)))
        shifted = shift_logits(self.chance, self.tau, shifts[:, self.query])
        return (rng.random((number, len(self.chance))) < shifted).astype(np.float64)


def _tested(one: Followed, yes: Floats, signals: Floats, honest: _Honest, draws: int, seed: int) -> Followed:
    """Return what the test finds; ``draws`` of them where the first ones leave a small p-value."""
    rng = np.random.default_rng([seed, one.worker])
    ratios = Ratios.of(signals, honest.chance)
    observed = ratios.each(yes[None])[0]
    best = int(observed.argmax())
    signal = signals[ratios.signal[best]]
    first = honest.draw(DRAWS, rng)

    def p_of(parts: Iterable[Floats]) -> float:
        reached = [ratios.each(part).max(axis=1) >= observed[best] - 1e-9 for part in parts]
        return float((1 + sum(part.sum() for part in reached)) / (1 + sum(map(len, reached))))

    p = p_of([first])
    if p <= MORE_BELOW:
        p = p_of(honest.draw(PART, rng) for _ in range(ceil(draws / PART)))
    return replace(
        one,
        signal=int(ratios.signal[best]),
        share=float(ratios.share[best]),
        auc=float(separation(signal, yes[None])[0]),
        expected_auc=float(np.nanmean(separation(signal, first))),
        p=p,
    )


def _is_enough(yes: Floats, fewest: int) -> bool:
    return bool(len(yes) >= fewest and min(yes.sum(), len(yes) - yes.sum()) >= FEWEST_OF_EACH)


def _shared_shift(yes: Floats, expected: Floats, workers: NDArray[Any], queries: NDArray[Any]) -> float:
    """Return the spread of the shift that a worker's answers within one query share."""
    if not len(yes):
        return 0.0
    _, group, sizes = np.unique([workers, queries], axis=1, return_inverse=True, return_counts=True)
    place = group.ravel(), _places(group.ravel())
    labels = np.full((len(sizes), sizes.max()), np.nan)
    chance = np.full((len(sizes), sizes.max()), 0.5)
    labels[place] = yes
    chance[place] = expected
    return query_effect(chance, labels, sizes > 1)


def _places(groups: Ints) -> Ints:
    """Return each element's place among those of its group, from 0."""
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    places = np.empty(len(groups), np.int64)
    places[order] = np.arange(len(groups)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return places


def _check(yes: Floats, workers: NDArray[Any], queries: NDArray[Any], expected: Floats, signals: Floats) -> None:
    sizes = [len(yes), len(workers), len(queries), len(expected), signals.shape[-1] if signals.ndim == 2 else -1]
    if len(set(sizes)) > 1:
        raise ValueError(f"Answers, workers, queries, probabilities and signals (S, N) must agree in N; it is {sizes}.")
    if not np.isin(yes, (0, 1)).all():
        raise ValueError(f"{(~np.isin(yes, (0, 1))).sum()} answers are neither 0 nor 1.")
    if (odd := (expected <= 0) | (expected >= 1)).any():
        raise ValueError(f"{odd.sum()} probabilities are not between 0 and 1.")
    if np.isnan(signals).any():
        raise ValueError(f"{np.isnan(signals).sum()} values of signals are NaN: give unlisted pairs the lowest value.")
