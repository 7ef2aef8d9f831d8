"""What votes on controls say: how often random pairs match, and how often a vote is wrong. Pure.

If people call a random pair a match, it is one, or they are wrong. If several people judge a pair, they agree on a
match, and mistakes are isolated. So both are estimated together: a share of the random pairs matches, a vote on a match
says no with one chance, a vote on another pair says yes with another, and each vote is wrong by itself (the two classes
of Dawid and Skene 1979, all voters alike). Known matches, the positive controls, show how often a match is missed.
"""

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

ITERATIONS = 2_000  # of the errors at a given rate
CLOSE = 1e-9
FINEST = 1e-10  # of the rate


class Estimate(NamedTuple):
    """A figure with its interval."""

    value: float
    low: float
    high: float


class ControlVotes(NamedTuple):
    """Votes on controls.

    Attributes:
        yes: (n,) how many votes call each random pair a match, of ``votes`` (n,), 1 or more.
        missed: number of votes that call a known match none, of ``known`` votes.
    """

    yes: ArrayLike
    votes: ArrayLike
    missed: int
    known: int

    def times(self, factor: int) -> "ControlVotes":
        """Return ``factor`` times as many random pairs that are judged alike."""
        return self._replace(yes=np.tile(self.yes, factor), votes=np.tile(self.votes, factor))


class Learned(NamedTuple):
    """The share of random pairs that match (``rate``), and the chance of a vote to say ``yes`` to a pair that does not
    match, and ``no`` to one that does."""

    rate: Estimate
    yes: Estimate
    no: Estimate


def learn_from_controls(votes: ControlVotes, *, every: ControlVotes | None = None, confidence: float = 0.95) -> Learned:
    """Return the likeliest rate and errors by the ``votes`` that count.

    Work that calls a random pair a match fails a control and may not count, so the rate may be as high as ``every``
    vote says, counted or not.

    The interval of the rate holds the rates whose likelihood, with the errors that suit them best, is at least
    (1 - confidence) / 2 of the highest: where no vote says yes, that is Clopper and Pearson's. Intervals of the errors
    are Clopper and Pearson's, with 0 as lower end: any yes may be right. Without votes the rate is NaN, from 0 to 1.
    """
    yes = np.asarray(votes.yes, np.int64)
    of = np.asarray(votes.votes, np.int64)
    if not len(of):
        return Learned(Estimate(np.nan, 0, 1), *(Estimate(0, 0, 1) for _ in range(2)))
    if (of < 1).any() or (yes < 0).any() or (yes > of).any() or not 0 <= votes.missed <= votes.known:
        raise ValueError("More votes cannot say one thing than there are, and every random pair needs a vote.")
    kinds, numbers = np.unique(np.stack([yes, of]), axis=1, return_counts=True)
    model = _Model(kinds[0], kinds[1], numbers, votes.missed, votes.known)
    tail = (1 - confidence) / 2
    found = scipy.optimize.minimize_scalar(
        lambda rate: -model.at(rate)[0], bounds=(0, 1), method="bounded", options={"xatol": FINEST}
    )
    rate = 0.0 if model.at(0.0)[0] >= -found.fun - CLOSE else float(found.x)
    best, wrong_yes, wrong_no = model.at(rate)

    def above(one: float) -> float:
        return model.at(one)[0] - best - np.log(tail)

    low = scipy.optimize.brentq(above, 0, rate) if above(0.0) < 0 else 0.0
    high = scipy.optimize.brentq(above, rate, 1 - FINEST) if above(1 - FINEST) < 0 else 1.0
    if every is not None:
        high = max(high, learn_from_controls(every, confidence=confidence).rate.high)
    return Learned(
        Estimate(rate, float(low), float(high)),
        Estimate(wrong_yes, 0.0, exact_interval(int(yes.sum()), int(of.sum()), tail)[1]),
        Estimate(wrong_no, 0.0, exact_interval(votes.missed, votes.known, tail)[1]),
    )


def majority_wrong(wrong: Estimate, votes: ArrayLike, *, if_tied: bool) -> Estimate:
    """Return how often the majority of a pair's votes is wrong if each is wrong with chance ``wrong``: the mean over
    pairs of ``votes`` (n,) votes. ``if_tied``: whether a tie is wrong too."""
    sizes, numbers = np.unique(np.asarray(votes, np.int64), return_counts=True)
    most_right = (sizes - 1) // 2 if if_tied else sizes // 2
    chances = [float(numbers @ scipy.stats.binom.sf(most_right, sizes, one) / numbers.sum()) for one in wrong]
    return Estimate(*chances)


class _Model(NamedTuple):
    """``numbers`` (k,) of random pairs with ``yes`` of ``votes`` (k,) votes, and the votes on known matches."""

    yes: NDArray[np.int64]
    votes: NDArray[np.int64]
    numbers: NDArray[np.int64]
    missed: int
    known: int

    def at(self, rate: float) -> tuple[float, float, float]:
        """Return the log-likelihood at a rate, and the errors that suit it best, by expectation maximisation."""
        said = self.yes * self.numbers
        votes = self.votes * self.numbers
        wrong_yes = float((said.sum() + 0.5) / (votes.sum() + 1))
        wrong_no = (self.missed + 0.5) / (self.known + 1)
        for _ in range(ITERATIONS):
            is_match = self._chances(rate, wrong_yes, wrong_no)[0]
            before = wrong_yes, wrong_no
            others = float((1 - is_match) @ votes)
            wrong_yes = float((1 - is_match) @ said) / others if others else 0.0
            matches = self.known + float(is_match @ votes)
            wrong_no = (self.missed + float(is_match @ (votes - said))) / matches if matches else 0.0
            if abs(wrong_yes - before[0]) + abs(wrong_no - before[1]) < CLOSE:
                break
        return self._chances(rate, wrong_yes, wrong_no)[1], wrong_yes, wrong_no

    def _chances(self, rate: float, wrong_yes: float, wrong_no: float) -> tuple[NDArray[np.float64], float]:
        """Return the chance of each kind of pair to match, (k,), and the log-likelihood of everything."""
        no = self.votes - self.yes
        with np.errstate(divide="ignore"):
            match = np.log(rate) + _log_chance(no, self.yes, wrong_no)
            other = np.log1p(-rate) + _log_chance(self.yes, no, wrong_yes)
        either = np.logaddexp(match, other)
        known = float(_log_chance(self.missed, self.known - self.missed, wrong_no))
        return np.exp(match - either), float(self.numbers @ either) + known


def _log_chance(wrong: ArrayLike, right: ArrayLike, error: float) -> NDArray[np.float64]:
    return np.asarray(scipy.special.xlogy(wrong, error) + scipy.special.xlog1py(right, -error))


def exact_interval(found: int, n: int, tail: float = 0.025) -> tuple[float, float]:
    """Return the interval of a share of which ``found`` of ``n`` were found, with this chance of an error at each end
    (Clopper and Pearson 1934); 0 to 1 where n is 0.

    >>> round(exact_interval(0, 148, 0.05)[1], 3)
    0.02
    """
    low, high = scipy.special.betaincinv([found, found + 1], [n - found + 1, n - found], [tail, 1 - tail]).tolist()
    return (low if found else 0.0), (high if found < n else 1.0)
