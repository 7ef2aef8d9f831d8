"""A model for ordered levels: workers see an item too high or too low, more or less exactly, or do not look at it."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from counterpart_statistics.aggregation.fit import Fit
from counterpart_statistics.aggregation.votes import Codes, Floats, Votes

ITERATIONS = 300
TOLERANCE = 1e-7

# Priors, in levels: a worker's bias is about 0, the logarithm of their noise about that of half a level.
BIAS_SD = 0.25
NOISE = 0.5
LOG_NOISE_SD = 0.25

LAPSES = 1  # votes without a look that every worker is given beforehand
LOOKS = 9  # votes with a look
PSEUDO_COUNT = 1  # items more at each level, so that none is ruled out
_LONGEST_STEP = 0.5
_LEAST = 1e-12


def ordinal(votes: Votes, *, iterations: int = ITERATIONS) -> Fit:
    """Return the levels' distributions, and every worker's bias, noise and share of lapses.

    A worker who looks perceives the place of the item's level plus ``bias`` plus normal noise of standard deviation
    ``noise``, both in levels, and answers the nearest level. With probability ``lapses`` they do not look and answer as
    they often do. The parameters are those of the highest posterior, by expectation maximisation with one step of
    Fisher scoring an iteration. Gold controls keep their possible levels.
    """
    habits = _habits(votes.given)
    given = votes.given.sum(axis=1)
    crowd = _Crowd.before(len(habits))
    estimate = votes.begin()
    for number in range(iterations):
        looked = _Look.of(crowd, len(votes.levels))
        unlooked = crowd.lapses[:, None, None] * habits[:, :, None]
        likelihood = (1 - crowd.lapses)[:, None, None] * looked.probability + unlooked
        estimate = votes.update(estimate, likelihood, prior=estimate.by_kind + PSEUDO_COUNT)
        if number and estimate.moved < TOLERANCE:
            break
        looks = estimate.by_worker * (1 - unlooked / likelihood)
        crowd = crowd.step(looks, looked, given)
    skills = pd.DataFrame(
        {"bias": crowd.bias, "noise": np.exp(crowd.log_noise), "lapses": crowd.lapses}, index=votes.worker_names
    )
    return Fit(estimate.distribution, skills)


def _habits(given: Codes) -> Floats:
    """Return how often each worker gives each answer, with as many votes of the whole crowd as there are levels."""
    counts = given + given.shape[1] * given.sum(axis=0) / given.sum()
    return counts / counts.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class _Look:
    """For every worker, answer and level of the item: the probability of the answer of one who looks, and its
    derivatives with respect to the worker's bias and the logarithm of their noise."""

    probability: Floats
    by_bias: Floats
    by_log_noise: Floats

    @classmethod
    def of(cls, crowd: "_Crowd", levels: int) -> "_Look":
        thresholds = np.concatenate([[-np.inf], np.arange(levels - 1) + 0.5, [np.inf]])
        precision = np.exp(-crowd.log_noise)[:, None, None]
        at = (thresholds[None, :, None] - np.arange(levels) - crowd.bias[:, None, None]) * precision
        density = np.exp(-at * at / 2) / np.sqrt(2 * np.pi)
        slope = np.where(np.isfinite(at), at, 0) * density
        return cls(
            np.maximum(np.diff(scipy.special.ndtr(at), axis=1), _LEAST),
            -np.diff(density, axis=1) * precision,
            -np.diff(slope, axis=1),
        )


@dataclass(frozen=True)
class _Crowd:
    """The parameters of every worker."""

    bias: Floats
    log_noise: Floats
    lapses: Floats

    @classmethod
    def before(cls, workers: int) -> "_Crowd":
        """Return the most probable parameters of workers of whom no vote is known."""
        return cls(np.zeros(workers), np.full(workers, np.log(NOISE)), np.full(workers, LAPSES / (LAPSES + LOOKS)))

    def step(self, looks: Floats, looked: _Look, given: np.ndarray) -> "_Crowd":
        """Return better parameters. ``looks``: expected number of votes with a look, by worker, answer and level;
        ``given``: number of votes of each worker."""
        by = np.stack([looked.by_bias, looked.by_log_noise], axis=-1)
        deviations = np.array([BIAS_SD, LOG_NOISE_SD])
        surplus = np.stack([self.bias, self.log_noise - np.log(NOISE)], axis=-1)
        gradient = np.einsum("wal,wali->wi", looks / looked.probability, by) - surplus / deviations**2
        expected = looks.sum(axis=1, keepdims=True) / looked.probability
        information = np.einsum("wal,wali,walj->wij", expected, by, by) + np.diag(1 / deviations**2)
        step = np.linalg.solve(information, gradient[..., None])[..., 0]
        bias, log_noise = np.clip(step, -_LONGEST_STEP, _LONGEST_STEP).T
        return _Crowd(
            self.bias + bias,
            self.log_noise + log_noise,
            (given - looks.sum(axis=(1, 2)) + LAPSES) / (given + LAPSES + LOOKS),
        )
