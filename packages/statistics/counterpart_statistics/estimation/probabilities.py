"""How probable a match, or a level, is for a pair without a judgment: from the annotators' ranks and scores."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit

FOLDS = 5
NEEDED = 20  # labels from which a model is fitted; below, their mean is the probability
STEEPER = 0.346  # a logit times √(1 + 0.346 τ²) keeps its mean probability when a normal shift of sd τ is added
LARGEST_EFFECT = 3.0
LOWEST_MATCH = 2  # of the levels 1 (100% YES) to 4 (100% NO)
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(15)

Floats = NDArray[np.float64]


def folds_of(groups: ArrayLike, *, folds: int = FOLDS, seed: int = 0) -> NDArray[np.int64]:
    """Return the fold (Q,) of each query; queries of one group (captions of one image) share a fold.

    >>> folds_of([7, 7, 8], folds=2, seed=1).tolist()
    [1, 1, 0]
    """
    distinct, group = np.unique(np.asarray(groups), return_inverse=True)
    shuffled = np.random.default_rng(seed).permutation(len(distinct))
    return shuffled[group] % folds


def pair_features(ranks: ArrayLike, scores: ArrayLike, depth: int) -> Floats:
    """Return (Q, J, F) what the annotators say of each pair: formula (1) of the estimation design.

    The features are each annotator's log rank and standardised score, the least and the mean log rank, how many
    annotators rank the item among the first 5 and 25, and each annotator's raw score: only it distinguishes a
    query without matches from one with many, above all the score of a machine judge.

    Args:
        ranks: (A, Q, J); ranks beyond ``depth`` count as ``depth`` + 1.
        scores: (A, Q, J), NaN where the list does not hold the item: it then has the query's lowest standardised
            score, and the annotator's lowest score of all.
        depth: length of the lists.
    """
    places = np.minimum(np.asarray(ranks), depth + 1)
    values = np.asarray(scores, np.float64)
    listed = ~np.isnan(values)
    count = np.maximum(listed.sum(axis=2, keepdims=True), 1)
    mean = np.where(listed, values, 0).sum(axis=2, keepdims=True) / count
    spread = np.sqrt(np.where(listed, (values - mean) ** 2, 0).sum(axis=2, keepdims=True) / count)
    standard = (values - mean) / np.where(spread > 0, spread, 1)
    lowest = np.where(listed, standard, 0).min(axis=2, keepdims=True)
    least = np.where(listed, values, np.inf).min(axis=(1, 2), keepdims=True)
    as_they_are = np.where(listed, values, np.where(np.isinf(least), 0, least))
    logs = np.log(places)
    summary = [logs.min(axis=0), logs.mean(axis=0), (places <= 5).sum(axis=0), (places <= 25).sum(axis=0)]
    features = [*logs, *np.where(listed, standard, lowest), *summary, *as_they_are]
    return np.stack(features, axis=-1).astype(np.float64)


def match_probability(features: ArrayLike, labels: ArrayLike, folds: ArrayLike, *, clip: float = 0.002) -> Floats:
    """Return (Q, J): the probability that each pair is a match, from labels of the other folds alone (formula 1).

    Args:
        features: (Q, J, F).
        labels: (Q, J), 1 for a match, 0 for none, NaN for a pair without a label.
        folds: (Q,), as ``folds_of`` gives them. No label of a query's own fold touches its probabilities.
        clip: the least probability, and one minus the greatest.

    A logistic regression; where a fold leaves fewer than 20 labels or labels of one kind, their mean, and 0.5 without
    any.
    """
    # scikit-learn takes a second to import, for which pages that estimate nothing need not wait.
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    table = np.asarray(features, np.float64)
    known = np.asarray(labels, np.float64)
    fold = np.asarray(folds)
    found = np.empty(known.shape)
    for number in np.unique(fold):
        own = fold == number
        others = ~np.isnan(known) & ~own[:, None]
        values = known[others]
        if len(values) < NEEDED or values.min() == values.max():
            found[own] = values.mean() if len(values) else 0.5
            continue
        model = make_pipeline(StandardScaler(), LogisticRegression(C=0.3, max_iter=500))
        model.fit(table[others], values)
        found[own] = model.predict_proba(table[own].reshape(-1, table.shape[2]))[:, 1].reshape(-1, known.shape[1])
    return np.clip(found, clip, 1 - clip)


def level_thresholds(
    features: ArrayLike, levels: ArrayLike, folds: ArrayLike, *, thresholds: Sequence[int] = (1, 2, 3)
) -> Floats:
    """Return (Q, J, T): the probability that the level of each pair is at most each of the ascending ``thresholds``.

    Each threshold is a ``match_probability`` of its own, from labels of the other folds alone. Where they contradict
    each other, that of a match (level 2 at most) is kept, and the others are moved to it.

    A fold holds the queries of an image; the image of an *item* has no part in it. To leave out the labels of other
    queries on items of the fold's images too changed the Brier score of a match on ECCV Caption from .083 to .083.

    Args:
        levels: (Q, J), 1 to 4; NaN for a pair without a label.
        thresholds: must hold 2.
    """
    known = np.asarray(levels, np.float64)
    labels = [np.where(np.isnan(known), np.nan, known <= threshold) for threshold in thresholds]
    place = list(thresholds).index(LOWEST_MATCH)
    match = match_probability(features, labels[place], folds)
    found = np.stack(
        [
            match if np.array_equal(one, labels[place], equal_nan=True) else match_probability(features, one, folds)
            for one in labels
        ],
        axis=-1,
    )
    limit = match[..., None]
    return np.where(np.less(thresholds, LOWEST_MATCH), np.minimum(found, limit), np.maximum(found, limit))


def query_effect(probabilities: ArrayLike, labels: ArrayLike, audited: ArrayLike) -> float:
    """Return τ, the spread of the logit shift that the pairs of one query share (formula 2).

    It is chosen so that the squared sum of label minus probability has, in expectation, its mean over the audited
    queries.

    Args:
        probabilities: (Q, J).
        labels: (Q, J), NaN for pairs that are not asked, or have no label.
        audited: (Q,), whether every asked pair of the query has its label. Queries of which some pairs were chosen to
            be judged can count too, where an order rests on τ and no interval does.
    """
    rows = np.asarray(audited, bool)
    known = np.asarray(labels, np.float64)[rows]
    p = np.asarray(probabilities, np.float64)[rows]
    if not len(known):
        return 0.0
    asked = ~np.isnan(known)
    observed = (np.where(asked, known - p, 0).sum(axis=1) ** 2).mean()

    def excess(tau: float) -> float:
        shifted = shift_logits(p[..., None], tau, tau * NODES)
        each = np.where(asked[..., None], shifted * (1 - shifted), 0).sum(axis=1)
        shared = np.where(asked[..., None], shifted - p[..., None], 0).sum(axis=1) ** 2
        return float((each + shared).mean(axis=0) @ WEIGHTS / WEIGHTS.sum() - observed)

    if excess(0.0) >= 0:
        return 0.0
    if excess(LARGEST_EFFECT) <= 0:
        return LARGEST_EFFECT
    return float(brentq(excess, 0.0, LARGEST_EFFECT, xtol=1e-3))


def given_labels(probabilities: ArrayLike, labels: ArrayLike, tau: float) -> Floats:
    """Return (Q, J): the probabilities after labels of the query itself, which show the shift that its pairs share.
    A pair with a label, and a query without any, keep what they had.

    Args:
        probabilities: (Q, J), learned from labels of other queries.
        labels: (Q, J), 1 for a match, 0 for none, NaN for a pair without a label.
        tau: spread of the shift, from ``query_effect``.
    """
    p = np.array(probabilities, np.float64)
    known = np.asarray(labels, np.float64)
    rows = ~np.isnan(known).all(axis=1)
    shifted = shift_logits(np.clip(p[rows, :, None], 1e-9, 1 - 1e-9), tau, tau * NODES)
    label = known[rows, :, None]
    likelihood = np.where(np.isnan(label), 1.0, np.where(label > 0, shifted, 1 - shifted))
    logs = np.log(likelihood).sum(axis=1) + np.log(WEIGHTS)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True, initial=-np.inf))
    after = (shifted @ (weights / weights.sum(axis=1, keepdims=True))[..., None])[..., 0]
    p[rows] = np.where(np.isnan(known[rows]), after, p[rows])
    return p


def given_item_labels(probabilities: ArrayLike, labels: ArrayLike, items: ArrayLike) -> Floats:
    """Return (P,): the probabilities after labels of other queries on the same item, as popular items match more
    queries. A pair with a label, and one whose item has none, keep what they had.

    The pairs of an item share a shift of their logits: one Newton step towards the most probable one under a normal
    prior, whose variance is estimated by moments. No shift is greater than ``LARGEST_EFFECT``.

    Args:
        probabilities: (P,), between 0 and 1.
        labels: (P,), 1 for a match, 0 for none, NaN for a pair without a label.
        items: (P,) the item of each pair.
    """
    p = np.array(probabilities, np.float64)
    known = np.asarray(labels, np.float64)
    distinct, item = np.unique(np.asarray(items), return_inverse=True)
    seen = ~np.isnan(known)
    off = np.bincount(item[seen], known[seen] - p[seen], len(distinct))
    spread = np.bincount(item[seen], p[seen] * (1 - p[seen]), len(distinct))
    variance = max((off**2 - spread).sum() / max((spread**2).sum(), 1e-12), 0.0)
    shift = np.clip(variance * off / (1 + variance * spread), -LARGEST_EFFECT, LARGEST_EFFECT)[item]
    moved = ~seen & (shift != 0)
    p[moved] = expit(logit(p[moved]) + shift[moved])
    return p


def shift_logits(probabilities: Floats, tau: float, shift: Floats) -> Floats:
    """Return the probabilities given the query's shift, drawn with spread ``tau``."""
    return np.asarray(expit(logit(probabilities) * np.sqrt(1 + STEEPER * tau**2) + shift))
