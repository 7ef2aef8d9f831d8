"""The first places of a pool's models, and what each pair of a round counts in their scores."""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from counterpart_metrics import Rankings
from evaluation.models import Run
from evaluation.scores.runs import read_run
from hits.models import Round
from mitl.models import Direction, Pool
from mitl.search.gallery import load_lists

Floats = NDArray[np.float64]


def pair_weights(round: Round, pairs: NDArray[np.int64], depth: int) -> dict[str, Floats]:
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
    codes = pairs[:, 0] << 32 | pairs[:, 1]
    weights: dict[str, Floats] = {}
    for name, lists in first_places(pool, depth).items():
        if any(direction not in lists for direction in queries):
            continue
        total = np.zeros(len(pairs))
        for direction, ids in queries.items():
            asked, items = _best(lists[direction], ids, depth)
            images, captions = (asked, items) if direction == Direction.IMAGE_TO_CAPTION else (items, asked)
            place = np.searchsorted(codes, images << 32 | captions).clip(0, len(codes) - 1)
            pooled = codes[place] == images << 32 | captions
            proposed = np.bincount(place[pooled], minlength=len(pairs))
            total += proposed / (len(ids) * depth * len(queries))
        weights[name] = total
    return weights


def _best(lists: Rankings, queries: NDArray[np.int64], depth: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return query and item of the first ``depth`` places of the lists of these queries."""
    inside = np.isin(lists.queries, queries)
    items = lists.items[inside, :depth].astype(np.int64)
    rows, places = np.nonzero(items >= 0)
    return lists.queries[inside][rows], items[rows, places]


def first_places(pool: Pool, depth: int) -> dict[str, dict[Direction, Rankings]]:
    """Return the first places of every model's rankings: the annotators of the pool, and its ``registered_runs``."""
    models = {}
    for retrieval in pool.retrievals.select_related("annotator").order_by("annotator__name"):
        models[retrieval.annotator.name] = {
            direction: Rankings(lists.queries, np.where(lists.items, lists.items, -1)[:, :depth])
            for direction, lists in load_lists(retrieval).items()
        }
    return models | {name: places_of_run(run, depth) for name, run in registered_runs(pool).items()}


def registered_runs(pool: Pool) -> dict[str, Run]:
    """Return the runs of files that are registered for the pool's collection, by name, of each the newest; without
    those named as an annotator of the pool."""
    uploaded = Run.objects.filter(collection=pool.collection).exclude(file="").order_by("pk")
    newest = {run.model: run for run in uploaded.select_related("collection")}
    pooled = set(pool.retrievals.values_list("annotator__name", flat=True))
    return {name: newest[name] for name in sorted(newest.keys() - pooled)}


def first_pairs(pool: Pool, places: Mapping[Direction, Rankings], depth: int) -> set[tuple[int, int]]:
    """Return the pairs (ids of image and caption) in the first places of a model's lists of the pool's queries, in the
    directions that were pooled."""
    pairs: set[tuple[int, int]] = set()
    for direction, queries in pooled_queries(pool).items():
        if direction in places:
            asked, items = _best(places[direction], queries, depth)
            images, captions = (asked, items) if direction == Direction.IMAGE_TO_CAPTION else (items, asked)
            pairs |= set(zip(images.tolist(), captions.tolist(), strict=True))
    return pairs


def pooled_queries(pool: Pool) -> dict[Direction, NDArray[np.int64]]:
    """Return the ids of the pool's queries, ascending, in each direction that was pooled and has any."""
    sides = {Direction.IMAGE_TO_CAPTION: pool.sample.images, Direction.CAPTION_TO_IMAGE: pool.sample.captions}
    queries = {
        direction: np.array(sorted(side.values_list("pk", flat=True)), np.int64)
        for direction, side in sides.items()
        if direction in pool.directions
    }
    return {direction: ids for direction, ids in queries.items() if len(ids)}


def places_of_run(run: Run, depth: int) -> dict[Direction, Rankings]:
    """Return the first places of a run's lists. Raises CounterpartError as ``read_run`` does."""
    blocks: dict[Direction, list[Rankings]] = defaultdict(list)
    for direction, block in read_run(run):
        blocks[Direction(direction)].append(Rankings(block.queries, block.items[:, :depth]))
    return {direction: _joined(parts, depth) for direction, parts in blocks.items()}


def _joined(parts: list[Rankings], depth: int) -> Rankings:
    padded = [np.pad(one.items, ((0, 0), (0, depth - one.items.shape[1])), constant_values=-1) for one in parts]
    return Rankings(np.concatenate([one.queries for one in parts]), np.concatenate(padded))
