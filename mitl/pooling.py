"""Pool: join the annotators' top lists into pairs worth a person's look, with all that says who named them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from django.db import IntegrityError, transaction
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.events import record
from core.inserts import Columns, insert_rows
from core.naming import check_name
from core.progress import Progress, silent
from corpus.models import Collection, Sample
from mitl.gallery import Gallery, open_gallery
from mitl.lists import RankedLists, load_lists
from mitl.models import Annotator, Direction, Pool, Proposal, Retrieval
from mitl.newest import newest_retrievals


class _Named(NamedTuple):
    """What annotators named: an entry a proposal, in columns."""

    annotators: NDArray[np.int64]
    directions: NDArray[np.str_]
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
    The annotators' newest lists count, cascaded, re-ranked or neither. The same arguments again return the pool that is
    there. Memory: the lists of one annotator, and some 60 bytes a proposal.

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
            f"A control depth of {depth} is more than this gallery of {len(gallery.image_ids)} images and"
            f" {len(gallery.caption_ids)} captions allows; pass --control-depth {gallery.depth} or less."
        )
    return newest_retrievals(annotators, collection, gallery, sample, depth)


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
    progress("joining lists", 0, None)
    parts = [part for part in _parts(retrievals, directions, pool.top_k) if len(part.images)]
    if not parts:
        raise CounterpartError(f"The sample {pool.sample} asks nothing in this direction; choose another --direction.")
    named, pool.n_pairs = _by_pair(_Named._make(map(np.concatenate, zip(*parts, strict=True))), gallery)
    pool.n_proposals = len(named.images)
    try:
        with transaction.atomic():
            pool.save()
            pool.retrievals.set(retrievals)
            _insert(pool, named, progress)
            record("pooled", pool, actor="pool", proposals=pool.n_proposals, pairs=pool.n_pairs, seed=pool.seed)
    except IntegrityError as error:
        raise CounterpartError(f"A pool {pool} was made by somebody else meanwhile; run the same again.") from error
    return pool


def _parts(retrievals: list[Retrieval], directions: list[Direction], top_k: int) -> Iterator[_Named]:
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
    annotators, directions = np.full(len(items), annotator_id), np.full(len(items), direction.value)
    return _Named(annotators, directions, images, captions, ranks, scores)


def _by_pair(named: _Named, gallery: Gallery) -> tuple[_Named, int]:
    """Sort by image and caption, so that the database's index of pairs grows at its end; count the different pairs,
    each as one number: its place in the matrix of the gallery's ids."""
    rows = np.searchsorted(gallery.image_ids, named.images)
    cells = rows * len(gallery.caption_ids) + np.searchsorted(gallery.caption_ids, named.captions)
    order = np.argsort(cells, kind="stable")
    cells = cells[order]
    n_pairs = 1 + int(np.count_nonzero(cells[1:] != cells[:-1]))
    return _Named._make(column[order] for column in named), n_pairs


def _insert(pool: Pool, named: _Named, progress: Progress) -> None:
    columns: Columns = {
        "pool_id": pool.pk,
        "image_id": named.images,
        "caption_id": named.captions,
        "annotator_id": named.annotators,
        "direction": named.directions,
        "rank": named.ranks,
        "score": named.scores,
    }
    insert_rows(Proposal, columns, step="writing proposals", progress=progress)
