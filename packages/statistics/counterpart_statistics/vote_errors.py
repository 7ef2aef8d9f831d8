"""How often a vote on a candidate is wrong. Pure.

Only answer sets whose controls are right count, so the controls of these sets are right by choice and say nothing. What
is read instead: where pairs have several votes, how often these differ; elsewhere the controls of *all* sets that were
submitted, with a gap, as candidates are harder than controls by an unknown amount.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterpart_statistics.random_pairs import Estimate, majority_wrong

LIKENESS = 5.0  # answers to controls that weigh as much as the crowd's errors in those of one worker
GAP = 0.12  # candidates are at most so much harder than controls, of the way from never wrong to guessing
REACH = 1.96  # standard errors of an interval
FEWEST_PAIRS = 60  # with several votes, below which their differences are not read

Floats = NDArray[np.float64]


class Wrong(NamedTuple):
    """Chance that a vote or verdict calls a pair that does not match a match (``yes``), and a match none (``no``)."""

    yes: Estimate
    no: Estimate

    def by_majority(self, sizes: ArrayLike) -> "Wrong":
        """Return the errors of verdicts by majority, given those of votes and the numbers of votes (n,) on pairs."""
        return Wrong(
            majority_wrong(self.yes, sizes, if_tied=False),
            majority_wrong(self.no, sizes, if_tied=True),
        )


class WorkersControls(NamedTuple):
    """Answers to controls in all submitted sets, by worker: (W, 2) ``wrong`` and ``asked``, negative controls before
    positive ones, and the number (W,) of the sets that count."""

    wrong: ArrayLike
    asked: ArrayLike
    counted: ArrayLike


def vote_errors(controls: WorkersControls, yes: ArrayLike, votes: ArrayLike) -> Wrong:
    """Return how often a counted vote on a candidate is wrong, with intervals from 0, as any vote may be right.

    Args:
        controls: of all submitted sets.
        yes: (n,) how many votes call each candidate a match, of ``votes`` (n,).
    """
    said = np.asarray(yes, np.float64)
    of = np.asarray(votes, np.float64)
    several = of > 1
    if several.sum() >= FEWEST_PAIRS:
        return _by_differences(said[several], of[several])
    wrong = np.asarray(controls.wrong, np.float64)
    asked = np.asarray(controls.asked, np.float64)
    counted = np.asarray(controls.counted, np.float64)
    return Wrong(*(_by_controls(wrong[:, side], asked[:, side], counted) for side in range(2)))


def _by_controls(wrong: Floats, asked: Floats, counted: Floats) -> Estimate:
    """Return the mean over counted sets of their workers' errors on the controls of one side: the posterior mean of a
    beta distribution, whose prior is the crowd with one error and four right answers more."""
    if not counted.sum():
        return Estimate(0.5, 0.0, 1.0)
    crowd = (wrong.sum() + 1) / (asked.sum() + 5)
    rates = (LIKENESS * crowd + wrong) / (LIKENESS + asked)
    weights = counted / counted.sum()
    value = float(weights @ rates)
    high = value + REACH * float(np.sqrt(weights**2 @ (rates - value) ** 2 + value * (1 - value) / (asked.sum() + 5)))
    return Estimate(value, 0.0, min(high + GAP * max(0.5 - high, 0.0), 1.0))


def _by_differences(yes: Floats, votes: Floats) -> Wrong:
    """Return the errors that explain how often two votes on a pair differ: both sides alike as the value, one side
    alone as the upper ends. Votes are taken to err by themselves."""
    differ = 2 * yes * (votes - yes) / (votes * (votes - 1))
    share = float(differ.mean())
    most = share + REACH * float(differ.std() + 1 / np.sqrt(len(differ))) / np.sqrt(len(differ))
    matches = float(np.clip(yes.sum() / votes.sum(), 0.02, 0.98))
    value = _error_of(share)
    return Wrong(*(Estimate(value, 0.0, max(value, _error_of(most / side))) for side in (1 - matches, matches)))


def _error_of(share: float) -> float:
    """Return e, at most a half, where votes that are each wrong with chance e differ in this share of pairs of votes:
    2 e (1 - e)."""
    return float((1 - np.sqrt(max(1 - 2 * share, 0.0))) / 2)
