"""The pairs of queries as the padded arrays that ``estimation`` takes, from tables and rankings."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from counterpart_metrics import Qrels, Rankings, find
from counterpart_statistics.estimation import UNLISTED
from counterpart_statistics.judged import PAIR
from counterpart_statistics.pair_codes import pair_codes
from counterpart_statistics.selection.pooled_queries import GAINS, PooledQueries


def padded_queries(
    direction: str,
    queries: pd.DataFrame,
    table: pd.DataFrame,
    rankings: Mapping[str, Rankings],
    listed_scores: Mapping[str, NDArray[np.floating[Any]]],
) -> PooledQueries:
    """Return the queries of one direction with their pairs.

    Args:
        queries: ascending by ``id``, with their ``key`` and the id of their own ``image``.
        table: pairs by ids, with their ``level``, NaN without a verdict, and the gain of those ``known`` beforehand.
        rankings: by model, the annotators among them.
        listed_scores: (Q, k) the scores that each annotator gives to the items of its lists.
    """
    asking, answering = PAIR if direction == "i2t" else PAIR[::-1]
    pairs = table[table[asking].isin(queries["id"])].sort_values([asking, answering])
    ids = queries["id"].to_numpy(np.int64)
    query = pairs[asking].to_numpy()
    item = pairs[answering].to_numpy()
    rows = np.searchsorted(ids, query)
    sizes = np.bincount(rows, minlength=len(ids))
    places = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    shape = (len(ids), int(sizes.max(initial=1)))
    qrels = Qrels.of_pairs(query, item, every=ids)
    names = (*listed_scores, *(name for name in rankings if name not in listed_scores))
    ranks = np.full((len(names), *shape), UNLISTED)
    scores = np.full((len(listed_scores), *shape), np.nan)
    for number, name in enumerate(names):
        found = find(rankings[name], qrels).ranks
        listed = found > 0
        ranks[number, rows[listed], places[listed]] = found[listed]
        if name in listed_scores:
            scores[number, rows[listed], places[listed]] = listed_scores[name][rows[listed], found[listed] - 1]
    codes = np.zeros(shape, np.int64)
    codes[rows, places] = pair_codes(pairs["image"], pairs["caption"])
    levels = np.full(shape, float(len(GAINS)))
    known = np.zeros(shape)
    levels[rows, places] = pairs["level"]
    known[rows, places] = pairs["known"]
    depth = max(scores.shape[1] for scores in listed_scores.values())
    images = queries["image"].to_numpy(np.int64)
    return PooledQueries(names, ranks, scores, depth, levels, known, codes, tuple(queries["key"]), images)
