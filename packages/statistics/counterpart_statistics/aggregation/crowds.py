"""How good answer sets are, by the controls of all submitted sets: those that count and those that do not.

Sets count only if their controls are right. That choice is ignorable (Rubin 1976) as long as what it was made from
stays in the likelihood; controls of counted sets alone are right by construction. A vote is worth what one more control
of its set would be, under a beta distribution of rates; a worker's other sets count in part.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit

from counterpart_statistics.aggregation.votes import Codes, Floats
from counterpart_statistics.judged import MATCH

ALIKE = 5.0  # how alike workers are beforehand, in answers
RIGHT = 4  # right answers that the crowd is given beforehand
WRONG = 1  # wrong ones
SIDE_ERRORS = 3  # errors that each side is given beforehand
SHARED = np.array([0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.55, 0.75, 1])
SHARED_MEAN = 0.15  # beforehand
EDGE = 1e-3
"""The distance of rates and probabilities from 0 and 1 below which logarithms of their odds are cut."""
_START = (1.5, np.log(ALIKE), 0.0)
_BOUNDS = ((-12, 12), (-5, 12), (-10, 10))


@dataclass(frozen=True)
class ControlAnswers:
    """The answers to controls in all submitted sets. Those to retired controls are left out, and so are sets that were
    thrown out for another reason than their controls: these may be right, and would make the crowd look better.

    worker: (sets,) the number of the worker of each set, from 0.
    counted: (sets,) whether its votes count.
    control, of_set: (answers,) the control that was answered and the set of the answer.
    side: (answers,) 1 where the control is a match, 0 where it is none.
    right: (answers,) 1 for an answer on that side, 0 for another.
    """

    worker: Codes
    counted: NDArray[np.bool_]
    control: Codes
    of_set: Codes
    side: Codes
    right: Codes

    @classmethod
    def none(cls) -> "ControlAnswers":
        return cls(*np.zeros((6, 0), np.int64))

    @classmethod
    def of(cls, answers: pd.DataFrame, counted: pd.DataFrame) -> tuple["ControlAnswers", "pd.Index[Any]"]:
        """Return answers to controls by numbers, and the names of the numbered sets. ``answers``: ``image``,
        ``caption``, ``worker``, ``set``, ``control`` (its polarity), ``level`` and ``counted`` of each; ``counted``:
        ``set`` and ``worker`` of sets that count, of each once or more."""
        whole = pd.concat([counted.assign(counted=True), answers])[["set", "worker", "counted"]]
        sets = whole.drop_duplicates("set").sort_values("set")
        names = pd.Index(sets["set"])
        side = answers["control"].to_numpy() == "positive"
        right = np.isin(answers["level"], MATCH) == side
        controls = answers.groupby(["image", "caption"]).ngroup()
        numbers = (controls, names.get_indexer(pd.Index(answers["set"])), side, right)
        workers = pd.factorize(sets["worker"])[0]
        is_counted = sets["counted"].to_numpy(bool)
        return cls(workers, is_counted, *(np.asarray(one, np.int64) for one in numbers)), names

    @cached_property
    def sums(self) -> tuple[Floats, Floats]:
        """The numbers of right answers and of all answers of each set, (sets, 2) by side."""
        cells = self.of_set * 2 + self.side
        size = 2 * len(self.worker)
        right, asked = (np.bincount(cells, one, size) for one in (self.right, np.ones(len(cells))))
        return right.astype(float).reshape(-1, 2), asked.astype(float).reshape(-1, 2)

    @cached_property
    def totals(self) -> tuple[Floats, Floats]:
        """The sums of both sides, (sets,)."""
        right, asked = self.sums
        return right.sum(axis=1), asked.sum(axis=1)

    def elsewhere(self, sums: Floats) -> Floats:
        """Return what the other sets of each set's worker have together, (sets,)."""
        return np.bincount(self.worker, sums, minlength=len(self.worker))[self.worker] - sums

    @cached_property
    def table(self) -> tuple[Floats, Codes]:
        """The different right answers, answers, and both in other sets of the worker; and each set's row."""
        right, asked = self.totals
        parts = np.stack([right, asked, self.elsewhere(right), self.elsewhere(asked)], axis=1)
        rows, places = np.unique(parts, axis=0, return_inverse=True)
        return rows, places.ravel()

    @cached_property
    def controls(self) -> tuple[Codes, Codes]:
        """Each answer's control by number, and the side of each control; controls of equal answers are alike."""
        codes, places = np.unique(self.control * 2 + self.side, return_inverse=True)
        return places.ravel(), codes % 2

    @cached_property
    def worker_order(self) -> Codes:
        """The workers by what their sets answered, whatever their numbers."""
        rows = np.concatenate(self.sums, axis=1).astype(np.int16)
        order = np.lexsort((*rows.T, self.worker))
        ends = np.cumsum(np.bincount(self.worker))
        keys = [part.tobytes() for part in np.split(rows[order], ends[:-1])]
        return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


@dataclass(frozen=True)
class Crowd:
    """What is common to workers. ``mean`` and ``alike``: of the beta distribution of their rates, a = mean * alike and
    b = (1 - mean) * alike. ``carry``: what an answer in another set of the worker weighs. ``easier``: (2,) how much
    easier each side is (0: no match, 1: match), in logarithms of the odds."""

    mean: float
    alike: float
    carry: float
    easier: Floats

    def counts(self, answers: ControlAnswers, right: Floats, asked: Floats) -> tuple[Floats, Floats]:
        """Return the parameters of each set's beta distribution, by its right answers and answers:
        a = mean * alike + right + carry * right elsewhere, and b likewise of wrong ones."""
        wrong = asked - right
        a = self.mean * self.alike + right + self.carry * answers.elsewhere(right)
        b = (1 - self.mean) * self.alike + wrong + self.carry * answers.elsewhere(wrong)
        return a, b

    def by_side(self, rates: Floats) -> Floats:
        """Return rates on each side, (sets, 2)."""
        sides: Floats = expit(logit(np.clip(rates, EDGE, 1 - EDGE))[:, None] + self.easier)
        return sides


def crowd_of(answers: ControlAnswers, times: Floats | None = None, start: Crowd | None = None) -> Crowd:
    """Return the crowd in which each answer to a control is the likeliest by the other answers of its worker.
    ``times``: (workers,) how often each counts; ``start``: the crowd from which it is searched."""
    rows, places = answers.table
    sets = np.ones(len(places)) if times is None else times[answers.worker]
    many = np.bincount(places, sets, minlength=len(rows))
    first = (logit(start.mean), np.log(start.alike), logit(start.carry)) if start else _START
    found = minimize(
        _surprise, first, args=(rows.T, many), jac=True, method="L-BFGS-B", bounds=_BOUNDS, options={"gtol": 1e-7}
    )
    right, asked = (sets @ sums for sums in answers.sums)
    whole = (right.sum() + RIGHT) / (asked.sum() + RIGHT + WRONG)
    given = SIDE_ERRORS / (1 - whole)
    easier = logit((right + given * whole) / (asked + given)) - logit(whole)
    return Crowd(float(expit(found.x[0])), float(np.exp(found.x[1])), float(expit(found.x[2])), easier)


def counted_rates(answers: ControlAnswers) -> tuple[float, float]:
    """Return the probabilities that a vote of a counted set calls a match a match, and another pair none: the means
    over counted sets of their rates, as the controls of all submitted sets give them."""
    crowd = crowd_of(answers)
    a, b = (counts[answers.counted] for counts in crowd.counts(answers, *answers.totals))
    rates = a / (a + b) if len(a) else np.array([crowd.mean])
    refused, found = crowd.by_side(rates).mean(axis=0)
    return float(found), float(refused)


def _surprise(x: Floats, rows: Floats, many: Floats) -> tuple[float, Floats]:
    """Return minus the logarithm of the posterior at the logit of the mean, the logarithm of ``alike`` and the logit of
    ``carry``, up to a constant; and its gradient."""
    mean = expit(x[0])
    alike = np.exp(x[1])
    carry = expit(x[2])
    right, asked, right_elsewhere, elsewhere = rows
    wrong = asked - right
    hits = mean * alike + carry * right_elsewhere + np.maximum(right - 1, 0)
    misses = (1 - mean) * alike + carry * (elsewhere - right_elsewhere) + np.maximum(wrong - 1, 0)
    whole = alike + carry * elsewhere + np.maximum(asked - 1, 0)
    by_hits = many * right / hits
    by_misses = many * wrong / misses
    by_whole = many * asked / whole
    fit = many @ (right * np.log(hits) + wrong * np.log(misses) - asked * np.log(whole))
    prior = RIGHT * np.log(mean) + WRONG * np.log1p(-mean) - (x[1] - np.log(ALIKE)) ** 2 / 2 - x[2] ** 2 / 8
    of_mean = alike * (by_hits - by_misses).sum()
    of_alike = (by_hits * mean + by_misses * (1 - mean) - by_whole).sum()
    of_carry = by_hits @ right_elsewhere + by_misses @ (elsewhere - right_elsewhere) - by_whole @ elsewhere
    slope = [
        of_mean * mean * (1 - mean) + RIGHT * (1 - mean) - WRONG * mean,
        of_alike * alike - (x[1] - np.log(ALIKE)),
        of_carry * carry * (1 - carry) - x[2] / 4,
    ]
    return -float(fit + prior), -np.array(slope)


def shared_errors(answers: ControlAnswers, crowd: Crowd) -> float:
    """Return how far errors on one pair are shared, from 0 to 1, by controls with several answers, each held against
    the other controls of its worker; n answers count as n / (1 + (n - 1) shared)."""
    a, b = (counts[answers.of_set] for counts in crowd.counts(answers, *answers.totals))
    a = a - answers.right
    rates = crowd.by_side(a / (a + b - (1 - answers.right)))
    is_yes = answers.side == answers.right
    odds = vote_table(rates, [0.0])[1][2 * np.arange(len(is_yes)) + is_yes, 0]
    places, sides = answers.controls
    many = np.bincount(places, minlength=len(sides))
    held = np.where(sides == 1, 1, -1) * np.bincount(places, odds, minlength=len(sides))
    held = held[many > 1]
    thinned = 1 + np.multiply.outer(SHARED, many[many > 1] - 1)
    fits = -np.logaddexp(0, -held / thinned).sum(axis=1) - SHARED / SHARED_MEAN
    weights = np.exp(fits - fits.max())
    return float(weights @ SHARED / weights.sum())


def vote_table(rates: Floats, gaps: ArrayLike) -> tuple[Floats, Floats]:
    """Return the logarithms of the probabilities of votes on a pair without a match, and what each vote adds to the
    logarithm of the odds of a match. ``rates``: (n, 2) by side; ``gaps``: how much nearer to one half those on
    candidates are. Both are (2 * n, gaps): of each rate, a vote against a match and one for it."""
    on_candidates = 0.5 + (np.clip(rates, EDGE, 1 - EDGE)[:, :, None] - 0.5) * (1 - np.asarray(gaps))
    right = np.log(on_candidates)
    wrong = np.log1p(-on_candidates)
    at_none = np.stack([right[:, 0], wrong[:, 0]], axis=1)
    at_match = np.stack([wrong[:, 1], right[:, 1]], axis=1)
    size = (2 * len(rates), on_candidates.shape[2])
    return at_none.reshape(size), (at_match - at_none).reshape(size)
