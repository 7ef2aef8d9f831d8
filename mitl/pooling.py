"""Pools: the pairs of several annotators' top lists, joined, with the annotators that proposed them."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from django.db import IntegrityError, transaction
from numpy.typing import NDArray

import corpus.models
from core.database.inserts import Columns, insert_rows
from core.errors import CounterpartError
from core.events import record
from core.progress import Progress, silent, tracked
from core.seeds import check_seed
from core.text import check_name
from corpus.matches import known_pairs
from corpus.models import Caption, Collection, Sample
from counterpart_annotators.words import UNLIKELY_BELOW, bleu_1
from counterpart_statistics.pair_proposals import Proposals, by_pair, flattened
from mitl.models import Annotator, Direction, Pool, Proposal, Retrieval
from mitl.overlaps import count_overlap
from mitl.search.gallery import SearchGallery, load_lists, open_gallery
from mitl.search.search_report import refuse_blind
from mitl.search.store import newest_retrievals

# Two pools of one name are the same if these agree, and the searches that they are made of.
SETTINGS = (
    "collection_id",
    "sample_id",
    "top_k",
    "control_depth",
    "directions",
    "seed",
    "filtered_from_id",
    "threshold",
    "beyond",
)


def pool_proposals(
    name: str,
    *,
    collection: Collection,
    annotators: Sequence[Annotator],
    sample: Sample,
    top_k: int = 5,
    control_depth: int = 25,
    direction: str = "both",
    beyond: str = "",
    accept_blind: bool = False,
    listed: corpus.models.Gallery | None = None,
    seed: int = 0,
    actor: str = "pool",
    progress: Progress = silent,
) -> Pool:
    """Make the pool of all pairs in the first ``top_k`` places of an annotator's lists.

    A pair that several annotators propose, or both directions, is one pair with a Proposal for each. The newest lists
    are used, re-ranked or not. A second call with the same arguments returns the existing pool. Memory: the lists of
    one annotator, and about 60 bytes a proposal.

    Args:
        control_depth: pairs within this many places of any list may not become negative controls.
        direction: ``both``, ``i2t`` (images are the queries) or ``t2i``.
        beyond: match source whose pairs are passed over, matches or not: people judged those of a version.
        accept_blind: also take lists whose scores say nothing, however many there are.
        listed: the gallery beyond the collection's rows that was searched; None: the rows were.
        seed: only recorded: a pool draws nothing, and a round draws its controls by a seed of its own.

    Raises:
        CounterpartError: if lists are missing or less than ``control_depth`` deep, or too many of them say nothing; for
            invalid numbers, an unknown source, or if there is another pool of this name.
    """
    check_name(name)
    check_seed(seed)
    directions = _directions(direction)
    if not 1 <= top_k <= control_depth:
        raise CounterpartError(
            f"Invalid top-k {top_k}: a pool takes 1 to {control_depth} places of every list, the control depth."
            " Change --top-k or --control-depth."
        )
    retrievals = _newest(annotators, open_gallery(collection, sample, listed), control_depth)
    wanted = Pool(
        name=name,
        collection=collection,
        sample=sample,
        top_k=top_k,
        control_depth=control_depth,
        directions=[direction.value for direction in directions],
        beyond=beyond,
        seed=seed,
    )
    if existing := Pool.objects.filter(name=name).first():
        return _same(existing, wanted, retrievals)
    progress("joining lists", 0, None)
    known = known_pairs(collection, beyond) if beyond else np.zeros((0, 2), np.int64)
    parts = _parts(retrievals, sample, directions, top_k, known, accept_blind)
    proposals, wanted.n_pairs = by_pair(_joined(parts, sample, beyond))
    with _stored(wanted, proposals, retrievals, progress):
        record("pooled", wanted, actor=actor, proposals=wanted.n_proposals, pairs=wanted.n_pairs, seed=seed)
    return wanted


def pool_sample(sample: Sample, *, actor: str) -> Pool:
    """Return the pool of a sample's images alone, without annotators and pairs: for rounds that ask about images only.
    It is named after the sample, and made if it is not there. Raises CounterpartError for a sample without images, and
    if the name is taken."""
    if not sample.images.exists():
        raise CounterpartError(f"The sample {sample} has no query images. Sample some with sample_queries --images.")
    name = check_name(f"{sample}-images")
    wanted = Pool(name=name, collection=sample.collection, sample=sample, top_k=0, control_depth=0, seed=0)
    if existing := Pool.objects.filter(name=name).first():
        return _same(existing, wanted, [])
    with transaction.atomic():
        wanted.save()
        record("pooled", wanted, actor=actor, proposals=0, pairs=0, seed=0)
    return wanted


def prefilter_pool(name: str, *, pool: Pool, threshold: float = UNLIKELY_BELOW, progress: Progress = silent) -> Pool:
    """Make a pool of another's pairs whose caption scores ``threshold`` or more against the image's own captions.

    The other pool stays as it is, and both refer to the same lists. An image without captions of its own has nothing
    to compare with, and keeps its pairs. Hodosh et al. (2013, section 4.3.2) dropped 86.0% of all pairs in this way,
    and 6.7% of those that experts gave 2 2/3 or more: it saves judgments and loses matches, mostly those in other
    words. With the same arguments again, the existing pool is returned.

    Raises CounterpartError for a threshold outside 0 to 1, if no pair is left, or if the name is taken.
    """
    check_name(name)
    if not 0 < threshold <= 1:
        raise CounterpartError(f"Invalid threshold {threshold:g}: pass --threshold above 0 and at most 1.")
    retrievals = list(pool.retrievals.all())
    settings = {field: getattr(pool, field) for field in SETTINGS}
    wanted = Pool(name=name, **settings | {"filtered_from_id": pool.pk, "threshold": threshold})
    if existing := Pool.objects.filter(name=name).first():
        return _same(existing, wanted, retrievals)
    proposals = _proposals_of(pool)
    likely = _likely(proposals, threshold, progress)
    if not likely.any():
        raise CounterpartError(f"No pair of {pool} scores {threshold:g} or more; pass a lower --threshold.")
    proposals = Proposals._make(column[likely] for column in proposals)
    wanted.n_pairs = len(np.unique(np.stack([proposals.images, proposals.captions]), axis=1).T)
    with _stored(wanted, proposals, retrievals, progress):
        dropped = pool.n_pairs - wanted.n_pairs
        record("prefiltered", wanted, actor="prefilter", pool=pool.name, threshold=threshold, dropped=dropped)
    return wanted


def _directions(direction: str) -> list[Direction]:
    if direction == "both":
        return list(Direction)
    if direction not in Direction.values:
        raise CounterpartError(f"Unknown direction {direction!r}; choose both, {' or '.join(Direction.values)}.")
    return [Direction(direction)]


def _newest(annotators: Sequence[Annotator], gallery: SearchGallery, depth: int) -> list[Retrieval]:
    if not annotators:
        raise CounterpartError("A pool needs at least one annotator; name them with --annotators A,B.")
    if depth > gallery.depth:
        n_images, n_captions = gallery.shape
        raise CounterpartError(
            f"A control depth of {depth} is more than this gallery of {n_images} images and {n_captions} captions"
            f" allows; pass --control-depth {gallery.depth} or less."
        )
    return newest_retrievals(annotators, gallery, depth)


def _same(existing: Pool, wanted: Pool, retrievals: list[Retrieval]) -> Pool:
    """Return the existing pool if it has the same settings and equal searches."""
    differing = [name for name in SETTINGS if getattr(existing, name) != getattr(wanted, name)]
    searches = {(retrieval.annotator_id, retrieval.fingerprint) for retrieval in retrievals}
    if searches != set(existing.retrievals.values_list("annotator_id", "fingerprint")):
        differing.append("annotators")
    if differing:
        raise CounterpartError(
            f"There is already a pool {existing} with other"
            f" {', '.join(name.removesuffix('_id') for name in differing)}; choose another name."
        )
    return existing


@contextmanager
def _stored(pool: Pool, proposals: Proposals, retrievals: list[Retrieval], progress: Progress) -> Iterator[None]:
    """Store a pool with its proposals, and with what the caller records of it."""
    pool.n_proposals = len(proposals.images)
    columns: Columns = {
        "image_id": proposals.images,
        "caption_id": proposals.captions,
        "annotator_id": proposals.annotators,
        "direction": proposals.directions,
        "rank": proposals.ranks,
        "score": proposals.scores,
    }
    try:
        with transaction.atomic():
            pool.save()
            pool.retrievals.set(retrievals)
            insert_rows(Proposal, {"pool_id": pool.pk, **columns}, step="writing proposals", progress=progress)
            pairs = proposals.annotators, proposals.images, proposals.captions
            transaction.on_commit(lambda: count_overlap(pool, *pairs), robust=True)
            yield
    except IntegrityError as error:
        raise CounterpartError(f"Another process has made a pool {pool}; run the same command again.") from error


def _joined(parts: Iterable[Proposals], sample: Sample, beyond: str) -> Proposals:
    """Return the parts as one. Raises CounterpartError if all are empty."""
    filled = [part for part in parts if len(part.images)]
    if not filled and beyond:
        raise CounterpartError(
            f"All pairs in the annotators' lists are known to {beyond} already. Search deeper (retrieve --depth), or "
            "add other annotators."
        )
    if not filled:
        raise CounterpartError(f"The sample {sample} has no queries in this direction; choose another --direction.")
    return Proposals._make(map(np.concatenate, zip(*filled, strict=True)))


def _parts(
    retrievals: list[Retrieval],
    sample: Sample,
    directions: list[Direction],
    top_k: int,
    known: NDArray[np.int64],
    accept_blind: bool,
) -> Iterator[Proposals]:
    for retrieval in retrievals:
        lists = load_lists(retrieval, sample)
        for direction in directions:
            if direction in lists:
                if not accept_blind:
                    refuse_blind(retrieval.annotator, direction, lists[direction])
                ranked = lists[direction] if len(known) else lists[direction].top(top_k)
                yield flattened(retrieval.annotator_id, direction.value, ranked, top_k, known)


def _proposals_of(pool: Pool) -> Proposals:
    columns = ("annotator_id", "direction", "image_id", "caption_id", "rank", "score")
    rows = list(pool.proposals.order_by("image_id", "caption_id", "annotator_id", "direction").values_list(*columns))
    return Proposals._make(np.array(values) for values in zip(*rows, strict=True))


def _likely(proposals: Proposals, threshold: float, progress: Progress) -> NDArray[np.bool_]:
    """Return which proposals to keep; each pair is compared once."""
    pairs, pair_of = np.unique(np.stack([proposals.images, proposals.captions], axis=1), axis=0, return_inverse=True)
    found = caption_scores(pairs, bleu_1, progress=progress)
    return np.asarray(~(found < threshold)[pair_of])  # an image without captions has no score


def caption_scores(
    pairs: NDArray[np.int64],
    score: Callable[[str, list[str]], float],
    part: slice = slice(None),
    *,
    progress: Progress = silent,
) -> NDArray[np.float64]:
    """Score the caption of each pair, as ids (n, 2), against a part of its image's captions, in the order of import.

    (n,); NaN where the image has none in that part.
    """
    own: dict[int, list[str]] = defaultdict(list)
    theirs = Caption.objects.filter(image__in=np.unique(pairs[:, 0]).tolist()).order_by("pk")
    for image, text in theirs.values_list("image", "text"):
        own[image].append(text)
    texts = Caption.objects.in_bulk(np.unique(pairs[:, 1]).tolist())
    each = tracked(pairs.tolist(), "comparing captions", progress, total=len(pairs))
    found = [score(texts[caption].text, own[image][part]) if own[image][part] else np.nan for image, caption in each]
    return np.array(found, dtype=float)
