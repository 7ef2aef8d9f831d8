"""The first places of a pool's models, and what each pair of a round counts in their scores."""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from counterpart_metrics import Rankings
from counterpart_metrics.arrays import DIRECTIONS
from counterpart_metrics.needed_lists import Needed
from counterpart_statistics.pair_codes import NO_PAIRS, Ids, pair_codes
from evaluation.models import Run
from evaluation.scores.runs import read_run
from hits.models import Round
from mitl.models import Direction, Pool, Retrieval
from mitl.search.gallery import load_lists, sampled_queries

Floats = NDArray[np.float64]


def pair_weights(round: Round, pairs: Ids, depth: int) -> dict[str, Floats]:
    """Return model → (P,), what each pair counts in its score if it matches: by direction, 1 over the number of queries
    and the depth where the model ranks the item so high; the mean over directions.

    ``pairs`` (P, 2) are ids of image and caption, ascending. Raises CounterpartError for a depth beyond the pool's.
    """
    pool = round.pool
    queries = pooled_queries(pool)
    if not 1 <= depth <= pool.top_k:
        raise CounterpartError(
            f"Invalid depth {depth}: the pool holds the first {pool.top_k} items of each list. Use 1 to {pool.top_k}."
        )
    codes = pair_codes(*pairs.T)
    weights: dict[str, Floats] = {}
    for name, lists in first_places(pool, depth).items():
        if any(direction not in lists for direction in queries):
            continue
        total = np.zeros(len(pairs))
        for direction, ids in queries.items():
            listed = _best(direction, lists[direction], ids, depth)
            place = np.searchsorted(codes, listed).clip(0, len(codes) - 1)
            pooled = codes[place] == listed
            proposed = np.bincount(place[pooled], minlength=len(pairs))
            total += proposed / (len(ids) * depth * len(queries))
        weights[name] = total
    return weights


def _best(direction: Direction, lists: Rankings, queries: Ids, depth: int) -> Ids:
    """Return the codes of the pairs in the first ``depth`` places of the lists of these queries."""
    inside = np.isin(lists.queries, queries)
    items = lists.items[inside, :depth].astype(np.int64)
    rows, places = np.nonzero(items >= 0)
    sides = lists.queries[inside][rows], items[rows, places]
    return pair_codes(*(sides if direction == Direction.IMAGE_TO_CAPTION else sides[::-1]))


def first_places(pool: Pool, depth: int) -> dict[str, dict[Direction, Rankings]]:
    """Return the first places of every model's rankings: the annotators of the pool, and its ``registered_runs``."""
    models = {}
    for retrieval in pool.retrievals.select_related("annotator").order_by("annotator__name"):
        models[retrieval.annotator.name] = rankings_of(retrieval, depth)
    return models | {name: places_of_run(run, depth) for name, run in registered_runs(pool).items()}


def rankings_of(retrieval: Retrieval, depth: int | None = None) -> dict[Direction, Rankings]:
    """Return the lists of an annotator, or their first places."""
    return {
        direction: Rankings(lists.queries, np.where(lists.items, lists.items, -1)[:, :depth])
        for direction, lists in load_lists(retrieval).items()
    }


def registered_runs(pool: Pool) -> dict[str, Run]:
    """Return the newest run of each model registered for the pool's collection, by name, without pool annotators."""
    uploaded = Run.objects.filter(collection=pool.collection).exclude(file="").order_by("pk")
    newest = {run.model: run for run in uploaded.select_related("collection")}
    pooled = set(pool.retrievals.values_list("annotator__name", flat=True))
    return {name: newest[name] for name in sorted(newest.keys() - pooled)}


def first_pairs(pool: Pool, places: Mapping[Direction, Rankings], depth: int) -> Ids:
    """Return the codes of the pairs in the first places of a model's lists, in the directions that were pooled."""
    asking = pooled_queries(pool)
    found = [_best(one, places[one], queries, depth) for one, queries in asking.items() if one in places]
    return np.unique(np.concatenate([NO_PAIRS, *found]))


def pooled_queries(pool: Pool) -> dict[Direction, Ids]:
    """Return the ids of the pool's queries, ascending, in each direction that was pooled and has any."""
    queries = sampled_queries(pool.sample)
    return {direction: ids for direction, ids in queries.items() if direction in pool.directions and len(ids)}


def places_of_run(run: Run, depth: int) -> dict[Direction, Rankings]:
    """Return the first places of a run's lists. Raises CounterpartError as ``read_run`` does."""
    blocks: dict[Direction, list[Rankings]] = defaultdict(list)
    for direction, block in read_run(run, needs=dict.fromkeys(DIRECTIONS, Needed(None, depth))):
        blocks[Direction(direction)].append(Rankings(block.queries, block.items[:, :depth]))
    return {direction: _joined(parts, depth) for direction, parts in blocks.items()}


def _joined(parts: list[Rankings], depth: int) -> Rankings:
    padded = [np.pad(one.items, ((0, 0), (0, depth - one.items.shape[1])), constant_values=-1) for one in parts]
    return Rankings(np.concatenate([one.queries for one in parts]), np.concatenate(padded))
