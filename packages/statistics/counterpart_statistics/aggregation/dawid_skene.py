"""Dawid and Skene's model (1979): each worker has a confusion matrix, learned together with the levels of the items."""

import numpy as np
import pandas as pd

from counterpart_statistics.aggregation.fit import Fit
from counterpart_statistics.aggregation.votes import Floats, Votes

ITERATIONS = 300
TOLERANCE = 1e-7
# Right answers that every worker starts with at each level. With 0, levels that only workers of few votes chose stay
# undetermined; a large number would hide that a worker is bad.
TRUST = 0.1
_LEAST = 1e-10  # probability of an answer that a worker never gave


def dawid_skene(votes: Votes, *, trust: float = TRUST, iterations: int = ITERATIONS) -> Fit:
    """Return the levels' distributions by expectation maximisation, from the shares of the votes.

    Gold controls keep their possible levels throughout, so that votes on them anchor the confusion matrices of their
    workers. The prior is learned for each kind of item. It stops when the shares change by less than 1e-7 on average.
    """
    estimate = votes.begin()
    for _ in range(iterations):
        estimate = votes.update(estimate, confusions(estimate.by_worker, trust=trust), prior=estimate.by_kind)
        if estimate.moved < TOLERANCE:
            break
    return Fit(estimate.distribution, pd.DataFrame(index=votes.worker_names))


def confusions(by_worker: Floats, *, trust: float = TRUST) -> Floats:
    """Return the probability of each answer, given the level, from the expected votes (``votes.Estimate.by_worker``):
    (workers, answers, levels); the answers sum to 1."""
    counts = by_worker + trust * np.eye(by_worker.shape[-1])
    counts = np.maximum(counts, _LEAST)
    return counts / counts.sum(axis=1, keepdims=True)
