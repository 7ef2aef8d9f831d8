"""GLAD, as crowd-kit implements it. It knows no gold: votes on controls are left out. It holds all votes in memory."""

import warnings

import numpy as np
import pandas as pd
import scipy

from counterpart_statistics.aggregation.fit import Fit
from counterpart_statistics.aggregation.spooled_rows import SpooledRows
from counterpart_statistics.aggregation.votes import Votes


def glad(votes: Votes) -> Fit:
    """Generative model of Labels, Abilities and Difficulties (Whitehill et al. 2009).

    ``ability`` is the probability that a worker is right on an item of ordinary difficulty. Controls keep the shares of
    their votes.
    """
    from crowdkit.aggregation import GLAD

    levels = range(len(votes.levels))
    whole = votes.whole
    codes = {"task": whole.items, "worker": whole.workers.astype(np.int64), "label": whole.labels.astype(np.int64)}
    answers = pd.DataFrame(codes)[~whole.on_gold].reset_index(drop=True)
    model = GLAD(labels_priors=pd.Series(1 / len(levels), index=levels))
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        shares = model.fit_predict_proba(answers)
    distribution = whole.start.copy()
    distribution[shares.index] = shares.reindex(columns=levels, fill_value=0).to_numpy()
    ability = scipy.special.expit(model.alphas_ * np.e).reindex(range(len(votes.worker_names)))
    return Fit(SpooledRows.of(distribution), pd.DataFrame({"ability": ability.to_numpy()}, index=votes.worker_names))
