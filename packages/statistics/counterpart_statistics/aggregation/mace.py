"""Multi-Annotator Competence Estimation (Hovy et al. 2013): workers answer right, or as they always do."""

import numpy as np
import pandas as pd
import scipy

from counterpart_statistics.aggregation.fit import Fit
from counterpart_statistics.aggregation.votes import Floats, Votes, by_first

ITERATIONS = 50
KNOWN = 0.5  # prior votes of answering right on purpose, and of not
USUAL = 10.0  # prior votes of each answer where not
_NOISE = 1.5  # the largest parameter of a start is this much above the smallest, 1, before they are normalised


def mace(votes: Votes, *, seed: int = 0, iterations: int = ITERATIONS) -> Fit:
    """Return the levels' distributions by variational expectation maximisation, with every level equally likely.

    A worker answers right on purpose with the probability ``competence``, otherwise as they often do. The model knows
    no gold: votes on controls are left out, and controls keep the shares of their votes. ``seed`` draws the start.
    Levels that no worker chose for a candidate have no share.
    """
    workers = by_first((batch.workers[~batch.on_gold] for batch in votes.batches()), len(votes.worker_names))
    levels = by_first((batch.labels[~batch.on_gold] for batch in votes.batches()), len(votes.levels))
    shape = votes.given.shape
    competence = np.ones(shape[0])
    habits = np.zeros(shape)
    knows, usual = _drawn(len(workers), len(levels), seed)
    prior = np.ones((len(votes.kinds), shape[1]))
    prior[0] = np.isin(np.arange(shape[1]), levels)
    answers = np.ix_(workers, levels)
    estimate = votes.begin()
    for number in range(iterations + 1):
        if number:
            knows, usual = _learned(estimate.by_worker[answers][:, :, levels], knows, usual)
        guesses = knows[:, :1] * usual
        habits[answers] = guesses
        competence[workers] = knows[:, 1]
        likelihood = habits[:, :, None] + competence[:, None, None] * np.eye(shape[1])
        estimate = votes.update(estimate, np.where(habits[:, :, None] > 0, likelihood, 1), prior=prior, on_gold=False)
    known = np.full(shape[0], np.nan)
    known[workers] = knows[:, 1]
    return Fit(estimate.distribution, pd.DataFrame({"competence": known}, index=votes.worker_names))


def _learned(by_worker: Floats, knows: Floats, usual: Floats) -> tuple[Floats, Floats]:
    """Return the parameters by the expected votes: of each worker whether they guess or know, and their usual answers.

    They are exponentials of expected logarithms under Dirichlet distributions, and sum to less than 1.
    """
    right = np.diagonal(by_worker, axis1=1, axis2=2)
    guesses = knows[:, :1] * usual
    on_purpose = right * knows[:, 1:] / (guesses + knows[:, 1:])
    guessed = by_worker.sum(axis=2) - on_purpose
    known = np.stack([guessed.sum(axis=1), on_purpose.sum(axis=1)], axis=1)
    return _expected(known + KNOWN), _expected(guessed + USUAL)


def _expected(counts: Floats) -> Floats:
    digamma = scipy.special.digamma
    return np.exp(digamma(counts)) / np.exp(digamma(counts.sum(axis=1, keepdims=True)))


def _drawn(workers: int, levels: int, seed: int) -> tuple[Floats, Floats]:
    """Return a random start, the one of crowd-kit's MACE: versions were released by it."""
    drawn = scipy.stats.uniform(1, _NOISE)
    starts = [drawn.rvs(size=(workers, n), random_state=seed % 2**32) for n in (2, levels)]
    knows, usual = (start / start.sum(axis=1, keepdims=True) for start in starts)
    return knows, usual
