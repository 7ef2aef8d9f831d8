"""Dawid and Skene's model (1979): each worker has a confusion matrix, learned together with the levels of the items."""

import numpy as np
import pandas as pd

from dataset.aggregation.fit import Fit
from dataset.aggregation.votes import Floats, Votes

ITERATIONS, TOLERANCE = 300, 1e-7
# Right answers that every worker is given at each level beforehand. Without any, workers of few votes leave levels that
# nobody else confirms undetermined; many would hide that a worker is bad.
TRUST = 0.1
_LEAST = 1e-10  # probability of an answer that a worker never gave


def dawid_skene(votes: Votes, *, trust: float = TRUST, iterations: int = ITERATIONS) -> Fit:
    """Return the levels' distributions by expectation maximisation, from the shares of the votes.

    Gold controls keep their possible levels throughout, so that votes on them anchor the confusion matrices of their
    workers. The prior is learned for each kind of item. It stops when the shares change by less than 1e-7 on average.
    """
    distribution = votes.start
    for _ in range(iterations):
        before = distribution
        evidence = votes.by_item(np.log(confusions(votes, before, trust=trust)))
        distribution = votes.posterior(before, evidence)
        moved = distribution - before
        if np.abs(moved, out=moved).mean() < TOLERANCE:
            break
    return Fit(distribution, pd.DataFrame(index=votes.worker_names))


def confusions(votes: Votes, distribution: Floats, *, trust: float = TRUST) -> Floats:
    """Return the probability of each answer, given the level: (workers, answers, levels); the answers sum to 1."""
    counts = votes.by_worker(distribution) + trust * np.eye(len(votes.levels))
    counts = np.maximum(counts, _LEAST)
    return counts / counts.sum(axis=1, keepdims=True)
