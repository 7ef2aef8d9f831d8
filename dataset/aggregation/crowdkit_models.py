"""MACE and GLAD, as crowd-kit implements them. They know no gold: votes on controls are left out."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import scipy

from dataset.aggregation.fit import Fit
from dataset.aggregation.votes import Floats, Votes


def mace(votes: Votes, *, seed: int = 0) -> Fit:
    """Multi-Annotator Competence Estimation (Hovy et al. 2013): workers answer right, or as they always do.

    ``competence`` is the probability that a worker answers right on purpose. ``seed`` draws the start.
    """
    from crowdkit.aggregation import MACE

    # A single start: crowd-kit draws every restart from the same seed.
    model = MACE(n_restarts=1, random_state=seed % 2**32)  # NumPy's old generators take no more
    answers = _answers(votes)
    # crowd-kit gives the parameters of one worker or level to another unless their codes ascend as they occur.
    workers, worker_codes = pd.factorize(answers["worker"])
    labels, label_codes = pd.factorize(answers["label"])
    try:
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
            shares = model.fit_predict_proba(answers.assign(worker=workers, label=labels))
    except ValueError as error:
        most = int(votes.counts.sum(axis=1).max())
        raise ValueError(f"MACE's probabilities vanish on items of {most:,} votes. Use another method.") from error
    shares.columns = pd.Index(label_codes[shares.columns])
    return Fit(
        _distribution(votes, shares), _skills(votes, "competence", pd.Series(model.spamming_[:, 1], worker_codes))
    )


def glad(votes: Votes) -> Fit:
    """Generative model of Labels, Abilities and Difficulties (Whitehill et al. 2009).

    ``ability`` is the probability that a worker is right on an item of ordinary difficulty.
    """
    from crowdkit.aggregation import GLAD

    levels = len(votes.levels)
    model = GLAD(labels_priors=pd.Series(1 / levels, index=range(levels)))
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        shares = model.fit_predict_proba(_answers(votes))
    return Fit(_distribution(votes, shares), _skills(votes, "ability", scipy.special.expit(model.alphas_ * np.e)))


def _answers(votes: Votes) -> pd.DataFrame:
    codes = {"task": votes.items, "worker": votes.workers, "label": votes.labels}
    return pd.DataFrame(codes)[~votes.on_gold].reset_index(drop=True)


def _distribution(votes: Votes, shares: pd.DataFrame) -> Floats:
    """Return the shares of all items and levels; controls keep the shares of their votes."""
    distribution = votes.start.copy()
    distribution[shares.index] = shares.reindex(columns=range(len(votes.levels)), fill_value=0).to_numpy()
    return distribution


def _skills(votes: Votes, name: str, values: "pd.Series[Any]") -> pd.DataFrame:
    return pd.DataFrame({name: values.reindex(range(len(votes.worker_names))).to_numpy()}, index=votes.worker_names)
