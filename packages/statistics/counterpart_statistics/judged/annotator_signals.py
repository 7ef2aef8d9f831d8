"""What the ranks and scores of annotators say of pairs that workers judged. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from counterpart_statistics.estimation import pair_features
from counterpart_statistics.pair_codes import Ids
from counterpart_statistics.selection.pooled_queries import Floats, PooledQueries


@dataclass(frozen=True)
class AnnotatorsSaid:
    """What the annotators say of pairs (N,): ``features`` (N, F) and ``signals`` (S, N): the ranks of the annotators
    with these ``names``, then their scores. ``query`` (N,) numbers the pairs' queries, -1 in no pooled list."""

    features: Floats
    signals: Floats
    query: Ids
    names: list[str]


def what_annotators_say(pooled: Iterable[PooledQueries], pairs: Ids) -> AnnotatorsSaid:
    """Read the features and signals of pairs in each direction. A pair that both ask has the better rank and score, and
    the first direction's query."""
    query = np.full(len(pairs), -1)
    features = []
    ranks = []
    scores = []
    names: list[str] = []
    before = 0
    for queries in pooled:
        names = list(queries.models[: len(queries.scores)])
        order = queries.codes.ravel().argsort()
        place = order[np.searchsorted(queries.codes.ravel(), pairs, sorter=order).clip(max=len(order) - 1)]
        found = queries.codes.ravel()[place] == pairs
        row, column = np.unravel_index(place, queries.codes.shape)
        listed = queries.ranks[: len(names)]
        said = pair_features(listed, queries.scores, queries.depth)[row, column]
        features += [np.where(found[:, None], said, 0), found[:, None]]
        ranks.append(np.where(found, np.minimum(listed, queries.depth + 1)[:, row, column], queries.depth + 1))
        scores.append(np.where(found, queries.scores[:, row, column], np.nan))
        query = np.where(found & (query < 0), before + row, query)
        before += len(queries.keys)
    score = np.fmax.reduce(scores)
    lowest = np.where(np.isnan(score), np.inf, score).min(axis=1, keepdims=True)
    score = np.where(np.isnan(score), np.where(np.isinf(lowest), 0, lowest), score)
    signals = np.concatenate([-np.minimum.reduce(ranks), score]).astype(np.float64)
    return AnnotatorsSaid(np.hstack(features), signals, query, names)
