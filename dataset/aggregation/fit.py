"""What a method finds out from votes."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from dataset.aggregation.votes import Floats, Votes


@dataclass(frozen=True)
class Fit:
    """``distribution`` (items, levels): rows sum to 1. ``skills``: the method's own figures of every worker, by name;
    ``members``: those of every annotator, if it used any."""

    distribution: Floats
    skills: pd.DataFrame
    members: pd.DataFrame = field(default_factory=pd.DataFrame)


def describe_workers(votes: Votes, fit: Fit, chosen: Floats) -> pd.DataFrame:
    """Return a row per worker, by name, with what is known of their answers.

    votes: number of votes on candidates.
    agreement: share of those that equal the item's ``chosen`` level (an array of places, one per item).
    controls: number of votes on gold controls.
    right: share of those at a right level.
    reliability: mean probability that the level voted is the item's; on controls the share of the right levels.
    confusion: by level of the item, the estimated probabilities of the worker's answers (levels by levels), NaN for
        levels that none of their items has.
    The rest are the ``skills`` of the method. Figures of no votes are NaN.
    """
    gold = votes.on_gold
    voted = fit.distribution[votes.items, votes.labels]
    right = votes.possible[votes.items, votes.labels]
    table = pd.DataFrame(
        {
            "votes": _count(votes, ~gold),
            "agreement": _mean(votes, chosen[votes.items] == votes.labels, ~gold),
            "controls": _count(votes, gold),
            "right": _mean(votes, right, gold),
            "reliability": _mean(votes, np.where(gold, right, voted)),
        },
        index=votes.worker_names.rename("worker"),
    )
    counts = votes.by_worker(fit.distribution).transpose(0, 2, 1)
    with np.errstate(invalid="ignore"):
        table["confusion"] = list((counts / counts.sum(axis=2, keepdims=True)).round(4).tolist())
    return table.join(fit.skills).sort_index()


def _count(votes: Votes, which: np.ndarray) -> np.ndarray:
    return np.bincount(votes.workers, weights=which, minlength=len(votes.worker_names)).astype(int)


def _mean(votes: Votes, values: np.ndarray, which: np.ndarray | None = None) -> np.ndarray:
    which = np.ones(len(votes.workers), dtype=bool) if which is None else which
    sums = np.bincount(votes.workers, weights=values * which, minlength=len(votes.worker_names))
    with np.errstate(invalid="ignore"):
        return sums / _count(votes, which)
