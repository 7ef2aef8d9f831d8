"""Loops over queries, models and pairs, compiled. Their callers import them late: numba takes half a second."""

import numpy as np
from numba import njit


@njit(cache=True)
def all_metrics(ranks, order, gains):
    models, queries, _ = ranks.shape
    values = np.zeros((4, models, queries))
    one = np.zeros(4)
    for query in range(queries):
        positives = np.sum(gains[query] > 0)
        full = np.sum(gains[query] == 1)
        for model in range(models):
            metrics_of_list(gains[query], ranks[model, query], order[model, query], positives, full, one)
            values[:, model, query] = one
    return values


@njit(cache=True)
def metrics_of_list(gains, ranks, order, positives, full, values):
    """Write the four metrics of one model and query into ``values``.

    ``order`` (J,) sorts the ranks; ``positives`` and ``full`` count the gains above 0 and those of 1.
    """
    values[:] = 0.0
    hits = 0
    reached = 0.0
    for place in order:
        rank = ranks[place]
        if rank > positives:
            break
        if gains[place] > 0:
            hits += 1
            reached += gains[place]
            ideal = min(rank, full) + 0.5 * max(rank - full, 0)
            values[0] += hits / rank
            values[2] += rank == 1
            values[3] += reached / ideal
    if positives:
        values[0] /= positives
        values[1] = hits / positives
        values[3] /= positives


@njit(cache=True)
def mean_metrics(ranks, order, drawn):
    """Return (4, M, Q): the metrics' means over the draws, to the bit those of ``expectations``."""
    models, queries, _ = ranks.shape
    draws = drawn.shape[1]
    mean = np.zeros((4, models, queries))
    values = np.zeros((draws, 4))
    for query in range(queries):
        counts = [(np.sum(gains > 0), np.sum(gains == 1)) for gains in drawn[query]]
        for model in range(models):
            for draw in range(draws):
                gains = drawn[query, draw]
                metrics_of_list(gains, ranks[model, query], order[model, query], *counts[draw], values[draw])
            for metric in range(4):
                mean[metric, model, query] = values[:, metric].mean()
    return mean


@njit(cache=True)
def expectations(ranks, order, drawn, unknown, thresholds):
    models, queries, pairs = ranks.shape
    draws = drawn.shape[1]
    mean = np.zeros((4, models, queries))
    curvature = np.zeros((4, models, queries))
    slopes = np.zeros((4, models, queries, pairs, thresholds))
    values = np.zeros((draws, 4))
    levels = np.zeros((thresholds + 1, 4))
    for query in range(queries):
        asked = np.flatnonzero(unknown[query])
        counts = [(np.sum(gains > 0), np.sum(gains == 1)) for gains in drawn[query]]
        for model in range(models):
            places = ranks[model, query]
            by_rank = order[model, query]
            for draw in range(draws):
                gains = drawn[query, draw]
                metrics_of_list(gains, places, by_rank, *counts[draw], values[draw])
                for pair in asked:
                    _force(gains, pair, places, by_rank, *counts[draw], levels)
                    for level in range(thresholds):
                        slopes[:, model, query, pair, level] += (levels[level + 1] - levels[level]) / draws
            for metric in range(4):
                mean[metric, model, query] = values[:, metric].mean()
                linear = _linear(slopes[metric, model, query], drawn[query], asked, thresholds)
                curvature[metric, model, query] = np.var(values[:, metric] - linear)
    return mean, slopes, curvature


@njit(cache=True)
def _force(gains, pair, places, by_rank, positives, full, levels):
    """Write the metrics with the pair's label at each level, from no match to a full one."""
    kept = gains[pair]
    top = len(levels) - 1
    for level in range(top + 1):
        gains[pair] = level / top
        some = positives - (kept > 0) + (level > 0)
        ones = full - (kept == 1) + (level == top)
        metrics_of_list(gains, places, by_rank, some, ones, levels[level])
    gains[pair] = kept


@njit(cache=True)
def _linear(slopes, drawn, asked, thresholds):
    """Return (S,): the part of a metric that is linear in the labels, in each draw."""
    linear = np.zeros(len(drawn))
    for draw in range(len(drawn)):
        for pair in asked:
            for level in range(thresholds):
                if drawn[draw, pair] * thresholds > level:
                    linear[draw] += slopes[pair, level]
    return linear
