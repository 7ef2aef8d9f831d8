"""The pairs of a pool with their verdicts, as the padded arrays that ``evaluation.estimation`` takes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from core.errors import CounterpartError
from core.progress import Progress, silent
from corpus.models import Collection
from counterpart_metrics import Qrels, Rankings, find
from dataset.contents import Contents, Policies, gather_contents, queries_of
from dataset.merging import MergeTerm, Pair, check_sources, parse_merge
from dataset.review_rows import Reviewed, review_rows
from evaluation.estimation import UNLISTED
from evaluation.judged_pairs import WEIGHTS
from evaluation.scores.model_rankings import first_places
from hits.question import Level
from mitl.models import Direction, Pool
from mitl.search.gallery import RankedLists, load_lists

LONGEST = 1_000
"""Places of a model's lists that are read: no query has as many matches."""

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class PooledQueries:
    """The queries of one direction with the pairs of the pool and the matches known beforehand, padded to J places.

    Attributes:
        models: M names; the annotators of the pool come first.
        ranks: (M, Q, J) as in ``evaluation.estimation``.
        scores: (A, Q, J) of the annotators, NaN where their lists do not hold the item.
        depth: length of the annotators' lists.
        levels: (Q, J), NaN for pairs without a verdict; pairs known to match have 1, unused places 4.
        known: (Q, J) gains of pairs that cost no judgment, also of unused places; NaN for the others.
        codes: (Q, J) of the pairs, as ``pair_codes`` makes them; 0 at unused places.
        keys: (Q,) of the queries in the source data, ascending.
        images: (Q,) id of each query's own image.
    """

    models: tuple[str, ...]
    ranks: Ids
    scores: Floats
    depth: int
    levels: Floats
    known: Floats
    codes: Ids
    keys: tuple[str, ...]
    images: Ids

    @cached_property
    def gains(self) -> Floats:
        """(Q, J) by ``WEIGHTS``, NaN for pairs without a verdict."""
        weights = np.array([WEIGHTS[level] for level in Level])
        place = np.nan_to_num(self.levels, nan=Level.NO).astype(int) - 1
        return np.where(np.isnan(self.levels), np.nan, weights[place])

    @property
    def asked(self) -> NDArray[np.bool_]:
        """(Q, J): the pairs that a round of all pairs would ask."""
        return np.isnan(self.known)

    @property
    def is_complete(self) -> NDArray[np.bool_]:
        """(Q,): whether every pair of the query has a verdict."""
        return np.asarray(~np.isnan(self.levels).any(axis=1))


def pair_codes(images: ArrayLike, captions: ArrayLike) -> Ids:
    """Return one number for each pair of ids of image and caption, by which pairs are compared."""
    return np.asarray(np.asarray(images, np.int64) << 32 | np.asarray(captions, np.int64))


def load_pooled_queries(
    pool: Pool,
    votes: pd.DataFrame | None,
    *,
    rankings: Mapping[str, Mapping[Direction, Rankings]] | None = None,
    added: Iterable[tuple[int, int]] = (),
    merge: str = "original",
    progress: Progress = silent,
) -> dict[Direction, PooledQueries]:
    """Read the pairs of a pool, with the verdicts on them and its models' rankings, in each direction that was pooled.

    Args:
        votes: as ``dataset.verdicts.votes_of`` returns them; verdicts are by majority. None: nothing was judged.
        rankings: by model, with the pool's annotators (default: ``first_places``).
        added: pairs (ids of image and caption) that a round asks beside the pool's.
        merge: sources whose matches count without a judgment, as ``release`` takes them; that which the pool goes
            beyond is one of them.

    Raises CounterpartError for an unknown source and a pool without lists.
    """
    terms = tuple(parse_merge(merge))
    if pool.beyond and pool.beyond not in {term.source for term in terms}:
        terms += (MergeTerm(pool.beyond),)
    check_sources(pool.collection, terms)
    reviewed = Reviewed.of(review_rows(pool.collection))
    contents = gather_contents(
        pool.collection,
        queries=queries_of(pool.sample),
        votes=votes,
        reviewed=reviewed,
        proposals=None,
        policies=Policies(merge=terms),
    )
    proposed = pool.proposals.order_by().values_list("image__key", "caption__key").distinct()
    pairs = set(filter(reviewed.keeps, chain(proposed.iterator(chunk_size=20_000), _keys(pool.collection, added))))
    retrievals = pool.retrievals.select_related("annotator").order_by("annotator__name")
    lists = {retrieval.annotator.name: load_lists(retrieval, pool.sample) for retrieval in retrievals}
    if not lists:
        raise CounterpartError(f"Pool {pool} has no lists of annotators, so there is nothing to score.")
    progress("reading rankings", 0, None)
    models = rankings or first_places(pool, LONGEST)
    found = {}
    for direction in Direction:
        own = {name: one[direction] for name, one in lists.items() if direction in one}
        if direction.value in pool.directions and len(own) == len(lists):
            labels = _labels(direction, contents, pairs, terms)
            ranked = {name: one[direction] for name, one in models.items() if direction in one}
            found[direction] = _padded(direction, _by_id(direction, pool.collection, labels), ranked, own)
    return found


def _keys(collection: Collection, pairs: Iterable[tuple[int, int]]) -> list[Pair]:
    images, captions = (dict(side.values_list("pk", "key")) for side in (collection.images, collection.captions))
    return [(images[image], captions[caption]) for image, caption in pairs]


Labels = dict[str, dict[str, tuple[float, float]]]
"""Query → item → the pair's level, and its gain if it is known beforehand; both NaN where nobody knows."""


def _labels(direction: Direction, contents: Contents, pairs: Iterable[Pair], terms: Iterable[MergeTerm]) -> Labels:
    to_captions = direction == Direction.IMAGE_TO_CAPTION
    labels: Labels = {key: {} for key in (contents.queries.images if to_captions else contents.queries.captions)}
    free = {pair for term in terms for pair in contents.by_source[str(term)]} & contents.positives
    for pair in {*pairs, *contents.verdicts, *free}:
        query, item = pair if to_captions else pair[::-1]
        if query not in labels:
            continue
        verdict = contents.verdicts.get(pair)
        if pair in free:
            labels[query][item] = float(Level.YES), WEIGHTS[Level.YES]
        else:
            labels[query][item] = np.nan if verdict is None else float(verdict.level), np.nan
    return labels


@dataclass(frozen=True)
class _Pairs:
    """Pairs, (E,) each, by ids of query and item, and the Q queries, ascending by id."""

    queries: Ids
    keys: tuple[str, ...]
    images: Ids
    query: Ids
    item: Ids
    levels: Floats
    known: Floats


def _by_id(direction: Direction, collection: Collection, labels: Labels) -> _Pairs:
    images = dict(collection.images.values_list("key", "pk"))
    captions = {key: (pk, image) for key, pk, image in collection.captions.values_list("key", "pk", "image_id")}
    caption_ids = {key: pk for key, (pk, _) in captions.items()}
    to_captions = direction == Direction.IMAGE_TO_CAPTION
    asking, items = (images, caption_ids) if to_captions else (caption_ids, images)
    keys = sorted(labels, key=asking.__getitem__)
    own = [asking[key] if to_captions else captions[key][1] for key in keys]
    rows = sorted(
        (asking[query], items[item], *values) for query, found in labels.items() for item, values in found.items()
    )
    table = np.array(rows, np.float64).reshape(-1, 4)
    ids = table[:, :2].astype(np.int64)
    queries = np.array([asking[key] for key in keys], np.int64)
    return _Pairs(queries, tuple(keys), np.array(own, np.int64), ids[:, 0], ids[:, 1], table[:, 2], table[:, 3])


def _padded(
    direction: Direction, pairs: _Pairs, rankings: Mapping[str, Rankings], lists: Mapping[str, RankedLists]
) -> PooledQueries:
    rows = np.searchsorted(pairs.queries, pairs.query)
    sizes = np.bincount(rows, minlength=len(pairs.queries))
    places = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    shape = (len(pairs.queries), int(sizes.max(initial=1)))
    qrels = Qrels.of_pairs(pairs.query, pairs.item, every=pairs.queries)
    names = (*lists, *(name for name in rankings if name not in lists))
    ranks = np.full((len(names), *shape), UNLISTED)
    scores = np.full((len(lists), *shape), np.nan)
    for number, name in enumerate(names):
        found = find(rankings[name], qrels).ranks
        listed = found > 0
        ranks[number, rows[listed], places[listed]] = found[listed]
        if name in lists:
            of_queries = lists[name].of(pairs.queries).scores
            scores[number, rows[listed], places[listed]] = of_queries[rows[listed], found[listed] - 1]
    sides = (pairs.query, pairs.item) if direction == Direction.IMAGE_TO_CAPTION else (pairs.item, pairs.query)
    codes = np.zeros(shape, np.int64)
    codes[rows, places] = pair_codes(*sides)
    levels, known = np.full(shape, float(Level.NO)), np.zeros(shape)
    levels[rows, places] = pairs.levels
    known[rows, places] = pairs.known
    depth = max(one.items.shape[1] for one in lists.values())
    return PooledQueries(names, ranks, scores, depth, levels, known, codes, pairs.keys, pairs.images)
