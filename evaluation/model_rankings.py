"""The first places of a round's models, and what each of its pairs counts in their scores."""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from evaluation.metrics import Rankings
from evaluation.models import Run
from evaluation.runs import read_run
from hits.models import Round
from mitl.models import Direction
from mitl.search.gallery import load_lists

Floats = NDArray[np.float64]


def pair_weights(round: Round, pairs: NDArray[np.int64], depth: int) -> dict[str, Floats]:
    """Return model → (P,), what each pair counts in its score if it matches: by direction, 1 over the number of queries
    and the depth where the model ranks the item so high; the mean over directions.

    ``pairs`` (P, 2) are ids of image and caption, ascending. Raises CounterpartError for a depth beyond the pool's.
    """
    pool = round.pool
    queries = {
        Direction.IMAGE_TO_CAPTION: np.array(sorted(pool.sample.images.values_list("pk", flat=True)), np.int64),
        Direction.CAPTION_TO_IMAGE: np.array(sorted(pool.sample.captions.values_list("pk", flat=True)), np.int64),
    }
    directions = [Direction(name) for name in pool.directions if len(queries[Direction(name)])]
    if not 1 <= depth <= pool.top_k:
        raise CounterpartError(
            f"Invalid depth {depth}: the pool holds the first {pool.top_k} items of each list. Use 1 to {pool.top_k}."
        )
    codes = pairs[:, 0] << 32 | pairs[:, 1]
    weights: dict[str, Floats] = {}
    for name, lists in first_places(round, depth).items():
        if any(direction not in lists for direction in directions):
            continue
        total = np.zeros(len(pairs))
        for direction in directions:
            asked, items = _best(lists[direction], queries[direction], depth)
            images, captions = (asked, items) if direction == Direction.IMAGE_TO_CAPTION else (items, asked)
            place = np.searchsorted(codes, images << 32 | captions).clip(0, len(codes) - 1)
            pooled = codes[place] == images << 32 | captions
            proposed = np.bincount(place[pooled], minlength=len(pairs))
            total += proposed / (len(queries[direction]) * depth * len(directions))
        weights[name] = total
    return weights


def _best(lists: Rankings, queries: NDArray[np.int64], depth: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return query and item of the first ``depth`` places of the lists of these queries."""
    inside = np.isin(lists.queries, queries)
    items = lists.items[inside, :depth].astype(np.int64)
    rows, places = np.nonzero(items >= 0)
    return lists.queries[inside][rows], items[rows, places]


def first_places(round: Round, depth: int) -> dict[str, dict[Direction, Rankings]]:
    """Return the first places of every model's rankings: the annotators of the pool, and the runs of files that are
    registered for the collection, of each name the newest."""
    models = {}
    for retrieval in round.pool.retrievals.select_related("annotator").order_by("annotator__name"):
        models[retrieval.annotator.name] = {
            direction: Rankings(lists.queries, np.where(lists.items, lists.items, -1)[:, :depth])
            for direction, lists in load_lists(retrieval).items()
        }
    uploaded = Run.objects.filter(collection=round.pool.collection).exclude(file="").order_by("pk")
    for name, run in {run.model: run for run in uploaded.select_related("collection")}.items():
        if name not in models:
            models[name] = _places_of_run(run, depth)
    return models


def _places_of_run(run: Run, depth: int) -> dict[Direction, Rankings]:
    blocks: dict[Direction, list[Rankings]] = defaultdict(list)
    for direction, block in read_run(run):
        blocks[direction].append(Rankings(block.queries, block.items[:, :depth]))
    return {direction: _joined(parts, depth) for direction, parts in blocks.items()}


def _joined(parts: list[Rankings], depth: int) -> Rankings:
    padded = [np.pad(one.items, ((0, 0), (0, depth - one.items.shape[1])), constant_values=-1) for one in parts]
    return Rankings(np.concatenate([one.queries for one in parts]), np.concatenate(padded))
