"""Signals: evidence in an answer set of how it was made, beyond its controls. Pure: plain values in, evidence out.

A signal asks a person to look; it rejects nothing. Each has a rate at which it flags honest answer sets by chance
(``LEVEL`` unless it says another), which `tests/simulation/test_robots.py` checks. Yes is level 1 or 2, no is 3 or 4.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, exp, log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterpart_statistics.following import Ratios, logistic, own_chance, separation

LEVEL = 0.01  # probability that one signal flags an honest answer set
DRAWS = 4_000  # of answers from which such a probability is estimated
SEED = 0  # of these draws
FEWEST = 8  # answers below which a signal says nothing
SLOWER = 4.0  # a set is not too fast while it takes more than this part of the usual time
SPREADS = 3.5  # nor while its log time is within this number of robust standard deviations
LONGEST_PERIOD = 6
LEAST_PERIODIC = 0.75  # share of answers that repeat the one a period before
UNREAD_SHARE = 1 / 3
SAME_SHARE = 0.9
SWITCHES = 0.07  # of honest workers' answers to the same pair, at most: from yes to no, or from no to yes

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Evidence:
    """What one signal found: its name, a sentence with the figures, for staff, and the ``annotator``
    whose ranks the answers follow."""

    signal: str
    sentence: str
    annotator: str = ""


@dataclass(frozen=True)
class Pace:
    """The usual time of a round: median and robust standard deviation of the log seconds a pair, over answer sets."""

    median: float
    spread: float

    @classmethod
    def of(cls, seconds: ArrayLike) -> "Pace":
        """Return the pace of answer sets that took these seconds a pair (n,), each above 0."""
        logs = np.log(np.asarray(seconds, np.float64))
        median = float(np.median(logs))
        return cls(median, 1.4826 * float(np.median(np.abs(logs - median))))

    @property
    def fastest(self) -> float:
        """The seconds a pair below which a set is too fast."""
        return exp(self.median - max(log(SLOWER), SPREADS * self.spread))


def too_fast(seconds: float, *, floor: float, usual: Pace | None = None, own: Sequence[float] = ()) -> Evidence | None:
    """Compare the mean seconds a pair of a set with the ``floor`` below which a pair cannot be read, with the round's
    ``usual`` pace, and with the worker's ``own`` earlier sets (three or more)."""
    if seconds < floor:
        return Evidence("fast", f"{seconds:.1f} s a pair; a pair cannot be read in less than {floor:g} s.")
    if usual and seconds < usual.fastest:
        return Evidence("fast", f"{seconds:.1f} s a pair; the round's usual time is {exp(usual.median):.0f} s.")
    if len(own) >= 3 and seconds < (median := float(np.median(own))) / SLOWER:
        return Evidence("fast", f"{seconds:.1f} s a pair; the worker's own usual time is {median:.0f} s.")
    return None


def unread(seconds: Sequence[int | None], *, floor: float) -> Evidence | None:
    """Count the pairs that were shown for less than ``floor`` seconds. ``seconds``: whole seconds in use of each pair,
    None where they were not counted."""
    known = [one for one in seconds if one is not None]
    unread = sum(one < floor for one in known)
    if len(known) < FEWEST or unread <= UNREAD_SHARE * len(known):
        return None
    return Evidence("unread", f"{unread} of {len(known)} pairs were shown for less than {floor:g} s before the answer.")


def in_a_pattern(levels: ArrayLike) -> Evidence | None:
    """Test whether answers, in the order in which the pairs were shown, repeat with a period of up to LONGEST_PERIOD.

    The order is drawn at random for every worker, so that honest answers are as likely in any other order: the
    null distribution is that of the same answers shuffled. A set of equal answers has no order; see ``one_level``.
    """
    said = np.asarray(levels)
    if len(said) < FEWEST:
        return None
    shares = _periodic(said[None])[0]
    period = 1 + int(shares.argmax())
    if shares.max() < LEAST_PERIODIC:
        return None
    for draws in (DRAWS // 20, DRAWS):  # The first are among all, and mostly enough to find no pattern.
        shuffled = np.random.default_rng(SEED).permuted(np.tile(said, (draws, 1)), axis=1)
        reached = (_periodic(shuffled).max(axis=1) >= shares.max() - 1e-9).sum()
        if (1 + reached) / (1 + DRAWS) > LEVEL:
            return None
    if period == 1:
        return Evidence("pattern", f"The answers come in runs: {shares.max():.0%} of them repeat the one before.")
    return Evidence("pattern", f"{shares.max():.0%} of the answers repeat the one {period} pairs before.")


def one_level(levels: ArrayLike, shares: ArrayLike) -> Evidence | None:
    """Test whether nearly all answers have one level, where the other workers give it the share ``shares`` (4,)."""
    said = np.asarray(levels)
    counts = np.bincount(said, minlength=5)[1:5]
    level = int(counts.argmax())
    n = len(said)
    if n < FEWEST or counts[level] < SAME_SHARE * n:
        return None
    share = float(np.asarray(shares)[level])
    p = sum(comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(int(counts[level]), n + 1))
    if p > LEVEL:
        return None
    return Evidence("same", f"{counts[level]} of {n} answers have level {level + 1}; others give it {share:.0%}.")


def agrees_by_chance(yes: ArrayLike, chance: ArrayLike) -> Evidence | None:
    """Test whether answers (N,) agree less with the expected ones than those of a worker who looks. ``chance``: the
    probabilities of yes (N,), by what others than the worker say of the pairs.

    Agreement is the area under the ROC curve of ``chance`` for yes. How lenient a worker is does not change it: the
    honest answers that are drawn say yes as often on average.
    """
    said = np.asarray(yes, np.float64)
    drawn = _honest(said, np.asarray(chance))
    if drawn is None:
        return None
    agreement = separation(chance, said[None])[0]
    usual = separation(chance, drawn)
    usual = usual[~np.isnan(usual)]
    if (1 + (usual <= agreement + 1e-9).sum()) / (1 + len(usual)) > LEVEL:
        return None
    return Evidence(
        "chance",
        f"{len(said)} answers agree with annotators and other votes no better than chance. Of a pair with yes and one "
        f"with no, these prefer the first in {agreement:.0%} of the cases; {usual.mean():.0%} are expected.",
    )


def follows_annotator(yes: ArrayLike, chance: ArrayLike, said: ArrayLike, names: Sequence[str]) -> Evidence | None:
    """Test whether the ranks of one annotator explain answers (N,) beyond what a worker who looks answers, however
    strict and sharp they are (``following``). ``said`` (A, N): the greater, the better the annotator ranks the pair."""
    answers = np.asarray(yes, np.float64)
    ranks = np.asarray(said, np.float64)
    if len(answers) < FEWEST or answers.min() == answers.max() or not len(ranks):
        return None
    own = own_chance(answers, np.asarray(chance))
    drawn = (np.random.default_rng(SEED).random((DRAWS, len(answers))) < own).astype(np.float64)
    ratios = Ratios.of(ranks, own)
    found = ratios.each(answers[None])[0]
    if (1 + (ratios.each(drawn).max(axis=1) >= found.max() - 1e-9).sum()) / (1 + DRAWS) > LEVEL:
        return None
    best = ratios.signal[found.argmax()]
    areas = separation(ranks[best], np.vstack([answers, drawn]))
    return Evidence(
        "copy",
        f"{len(answers)} answers follow the ranks of {names[best]}. Of a pair with yes and one with no, it ranks the "
        f"first higher in {areas[0]:.0%} of the cases; {np.nanmean(areas[1:]):.0%} are expected.",
        names[best],
    )


def contradicts_itself(first: ArrayLike, second: ArrayLike) -> Evidence | None:
    """Test whether the answers to pairs that were asked twice (n,) switch between yes and no more often than those of
    honest workers, who do so with the probability SWITCHES at most."""
    switched = (np.asarray(first) <= 2) != (np.asarray(second) <= 2)
    n = len(switched)
    k = int(switched.sum())
    if not k:
        return None
    p = sum(comb(n, more) * SWITCHES**more * (1 - SWITCHES) ** (n - more) for more in range(k, n + 1))
    if p > LEVEL:
        return None
    return Evidence("repeats", f"{k} of {n} pairs that were asked twice were answered yes once and no once.")


def _periodic(rows: NDArray[np.int64]) -> Floats:
    """Return (R, periods) the share of answers of each row (R, n) that equal the one a period before; 0 for a row of
    equal answers."""
    shares = [(rows[:, lag:] == rows[:, :-lag]).mean(axis=1) for lag in range(1, LONGEST_PERIOD + 1)]
    return np.stack(shares, axis=1) * (rows != rows[:, :1]).any(axis=1)[:, None]


def _honest(yes: Floats, chance: Floats) -> Floats | None:
    """Draw (DRAWS, N) answers of a worker who looks and says yes as often on average; None where there are too few, or
    all answers are alike."""
    if len(yes) < FEWEST or yes.min() == yes.max():
        return None
    logits = np.log(chance / (1 - chance))
    low = -20.0
    high = 20.0
    for _ in range(40):
        shift = (low + high) / 2
        low, high = (shift, high) if logistic(logits + shift).sum() < yes.sum() else (low, shift)
    return (np.random.default_rng(SEED).random((DRAWS, len(yes))) < logistic(logits + low)).astype(np.float64)
