"""Pool: join the annotators' top lists into pairs worth a person's look, with all that says who named them."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from django.db import IntegrityError, transaction
from numpy.typing import NDArray

from corpus.models import Collection, Sample
from corpus.naming import check_name
from journal.errors import CounterpartError
from journal.events import record
from journal.progress import Progress, silent, tracked
from mitl.gallery import Gallery, open_gallery
from mitl.lists import RankedLists, load_lists
from mitl.models import Annotator, Direction, Pool, Proposal, Retrieval
from mitl.retrieval import newest_retrieval

BATCH = 5_000


class _Named(NamedTuple):
    """What one annotator named in one direction, an entry a proposal."""

    annotator_id: int
    direction: Direction
    images: NDArray[np.int64]
    captions: NDArray[np.int64]
    ranks: NDArray[np.int64]
    scores: NDArray[np.float32]


def pool_proposals(
    name: str,
    *,
    collection: Collection,
    annotators: Sequence[Annotator],
    sample: Sample,
    top_k: int = 5,
    control_depth: int = 25,
    direction: str = "both",
    seed: int = 0,
    progress: Progress = silent,
) -> Pool:
    """Make the pool of all pairs that stand in the first ``top_k`` places of an annotator's list.

    A pair named by several annotators, or in both directions, is one pair with one Proposal for each naming.
    The annotators' newest lists count. The same arguments again return the pool that is there.

    Args:
        control_depth: pairs within this many places of any list may not become negative controls.
        direction: ``both``, ``i2t`` (images ask for captions) or ``t2i``.
        seed: recorded for the drawing of controls; joining lists involves no chance.

    Raises:
        CounterpartError: if lists are missing or not ``control_depth`` deep, for impossible numbers, or if a
            pool of this name is there with other contents.
    """
    check_name(name)
    directions = _directions(direction)
    _check_depths(top_k, control_depth)
    gallery = open_gallery(collection, sample)
    retrievals = _newest(annotators, gallery, collection, sample, control_depth)
    wanted = Pool(
        name=name,
        collection=collection,
        sample=sample,
        top_k=top_k,
        control_depth=control_depth,
        directions=[direction.value for direction in directions],
        seed=seed,
    )
    there = Pool.objects.filter(name=name).first()
    if there is not None:
        return _same(there, wanted, retrievals)
    return _made(wanted, retrievals, gallery, directions, progress)


def _directions(direction: str) -> list[Direction]:
    if direction == "both":
        return list(Direction)
    if direction not in Direction.values:
        raise CounterpartError(f"There is no direction {direction!r}; choose both, {' or '.join(Direction.values)}.")
    return [Direction(direction)]


def _check_depths(top_k: int, control_depth: int) -> None:
    if not 1 <= top_k <= control_depth:
        raise CounterpartError(
            f"The pool takes at least 1 place of every list and at most the control depth: not {top_k} of"
            f" {control_depth}. Change --top-k or --control-depth."
        )


def _newest(
    annotators: Sequence[Annotator], gallery: Gallery, collection: Collection, sample: Sample, depth: int
) -> list[Retrieval]:
    if not annotators:
        raise CounterpartError("A pool needs at least one annotator; name them with --annotators A,B.")
    if depth > gallery.depth:
        raise CounterpartError(
            f"A control depth of {depth} is more than this gallery of {len(gallery.images)} images and"
            f" {len(gallery.captions)} captions allows; pass --control-depth {gallery.depth} or less."
        )
    found = {annotator.name: newest_retrieval(annotator, gallery, sample, depth) for annotator in annotators}
    lacking = [name for name, retrieval in found.items() if retrieval is None]
    if lacking:
        raise CounterpartError(
            f"{len(lacking)} annotators, as they are now, have no lists of depth {depth} for {sample}: "
            f"{', '.join(lacking)}. Run: manage.py retrieve {collection} --annotators {','.join(lacking)}"
            f" --queries {sample} --depth {depth}"
        )
    return [retrieval for retrieval in found.values() if retrieval is not None]


def _same(there: Pool, wanted: Pool, retrievals: list[Retrieval]) -> Pool:
    """Return the pool that is there, if it is the one that is wanted: equal in all its numbers, of equal searches."""
    settings = ("collection_id", "sample_id", "top_k", "control_depth", "directions", "seed")
    differing = [name for name in settings if getattr(there, name) != getattr(wanted, name)]
    searches = {(retrieval.annotator_id, retrieval.fingerprint) for retrieval in retrievals}
    if searches != set(there.retrievals.values_list("annotator_id", "fingerprint")):
        differing.append("annotators")
    if differing:
        raise CounterpartError(
            f"The pool {there} is there with other {', '.join(name.removesuffix('_id') for name in differing)};"
            " choose another name."
        )
    return there


def _made(
    pool: Pool, retrievals: list[Retrieval], gallery: Gallery, directions: list[Direction], progress: Progress
) -> Pool:
    named = list(_named(retrievals, directions, pool.top_k))
    pool.n_proposals = sum(len(some.images) for some in named)
    pool.n_pairs = _count_pairs(named, gallery)
    if not pool.n_proposals:
        raise CounterpartError(f"The sample {pool.sample} asks nothing in this direction; choose another --direction.")
    try:
        with transaction.atomic():
            pool.save()
            pool.retrievals.set(retrievals)
            _insert(pool, named, progress)
            record("pooled", pool, actor="pool", proposals=pool.n_proposals, pairs=pool.n_pairs, seed=pool.seed)
    except IntegrityError as error:
        raise CounterpartError(f"A pool {pool} was made by somebody else meanwhile; run the same again.") from error
    return pool


def _named(retrievals: list[Retrieval], directions: list[Direction], top_k: int) -> Iterator[_Named]:
    for retrieval in retrievals:
        lists = load_lists(retrieval)
        for direction in directions:
            if direction in lists:
                yield _flattened(retrieval.annotator_id, direction, lists[direction].top(top_k))


def _flattened(annotator_id: int, direction: Direction, lists: RankedLists) -> _Named:
    """Turn lists into an entry a proposal, without the places that fill up shorter lists."""
    filled = lists.items != 0
    queries = np.broadcast_to(lists.queries[:, None], lists.items.shape)[filled]
    ranks = np.broadcast_to(np.arange(1, lists.items.shape[1] + 1), lists.items.shape)[filled]
    items, scores = lists.items[filled], lists.scores[filled]
    images, captions = (queries, items) if direction == Direction.IMAGE_TO_CAPTION else (items, queries)
    return _Named(annotator_id, direction, images, captions, ranks, scores)


def _count_pairs(named: list[_Named], gallery: Gallery) -> int:
    """Count the different pairs, each as one number: its place in the matrix of the gallery's ids."""
    cells = [
        np.searchsorted(gallery.image_ids, some.images) * len(gallery.captions)
        + np.searchsorted(gallery.caption_ids, some.captions)
        for some in named
    ]
    return len(np.unique(np.concatenate(cells))) if cells else 0


def _insert(pool: Pool, named: list[_Named], progress: Progress) -> None:
    rows = tracked(_proposals(pool, named), "writing proposals", progress, total=pool.n_proposals, every=BATCH)
    while batch := list(islice(rows, BATCH)):
        Proposal.objects.bulk_create(batch)


def _proposals(pool: Pool, named: list[_Named]) -> Iterator[Proposal]:
    for some in named:
        columns = (some.images, some.captions, some.ranks, some.scores)
        for image_id, caption_id, rank, score in zip(*(column.tolist() for column in columns), strict=True):
            yield Proposal(
                pool=pool,
                annotator_id=some.annotator_id,
                image_id=image_id,
                caption_id=caption_id,
                direction=some.direction.value,
                rank=rank,
                score=score,
            )
