"""Drop pairs that can hardly match from a pool before people judge them, by BLEU-1 against an image's own captions."""

from collections import defaultdict

import numpy as np
from django.db import IntegrityError, transaction
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.events import record
from core.inserts import insert_rows
from core.naming import check_name
from core.progress import Progress, silent, tracked
from corpus.models import Caption
from mitl.classical.stems import UNLIKELY_BELOW, bleu_1
from mitl.models import Pool, Proposal

COLUMNS = ("image_id", "caption_id", "annotator_id", "direction", "rank", "score")


def prefilter_pool(name: str, *, pool: Pool, threshold: float = UNLIKELY_BELOW, progress: Progress = silent) -> Pool:
    """Make a pool of another's pairs whose caption scores ``threshold`` or more against the image's own captions.

    The other pool stays as it is, and the same lists stand behind both. An image without captions of its own gives
    nothing to compare with, and keeps its pairs. Hodosh et al. (2013, section 4.3.2) dropped 86.0% of all pairs so, and
    6.7% of those that experts gave 2 2/3 or more: it saves judgments and loses matches, those in other words above all.
    The same again returns the pool that is there.

    Raises CounterpartError for a threshold outside 0 to 1, a pool of which nothing is left, or a name that is taken.
    """
    check_name(name)
    if not 0 < threshold <= 1:
        raise CounterpartError(f"A threshold is above 0 and at most 1, not {threshold:g}; change --threshold.")
    there = Pool.objects.filter(name=name).first()
    if there is not None:
        return _same(there, pool, threshold)
    columns = _columns(pool)
    likely = _likely(columns, threshold, progress)
    if not likely.any():
        raise CounterpartError(f"No pair of {pool} scores {threshold:g} or more; pass a lower --threshold.")
    return _made(name, pool, {column: values[likely] for column, values in columns.items()}, threshold, progress)


def _same(there: Pool, pool: Pool, threshold: float) -> Pool:
    if (there.filtered_from_id, there.threshold) != (pool.pk, threshold):
        raise CounterpartError(f"The pool {there} is there with other contents; choose another name.")
    return there


def _columns(pool: Pool) -> dict[str, NDArray]:
    rows = list(pool.proposals.order_by("image_id", "caption_id", "annotator_id", "direction").values_list(*COLUMNS))
    return {column: np.array(values) for column, values in zip(COLUMNS, zip(*rows, strict=True), strict=True)}


def _likely(columns: dict[str, NDArray], threshold: float, progress: Progress) -> NDArray[np.bool_]:
    """Return which proposals are kept; each pair is compared once."""
    named = np.stack([columns["image_id"], columns["caption_id"]], axis=1)
    pairs, where = np.unique(named, axis=0, return_inverse=True)
    own: dict[int, list[str]] = defaultdict(list)
    for image, text in Caption.objects.filter(image__in=np.unique(pairs[:, 0]).tolist()).values_list("image", "text"):
        own[image].append(text)
    texts = Caption.objects.in_bulk(np.unique(pairs[:, 1]).tolist())
    likely = [
        not own[image] or bleu_1(texts[caption].text, own[image]) >= threshold
        for image, caption in tracked(pairs.tolist(), "comparing captions", progress, total=len(pairs))
    ]
    return np.array(likely, dtype=bool)[where]


def _made(name: str, pool: Pool, columns: dict[str, NDArray], threshold: float, progress: Progress) -> Pool:
    made = Pool(
        name=name,
        collection=pool.collection,
        sample=pool.sample,
        top_k=pool.top_k,
        control_depth=pool.control_depth,
        directions=pool.directions,
        seed=pool.seed,
        filtered_from=pool,
        threshold=threshold,
        n_proposals=len(columns["image_id"]),
        n_pairs=len(np.unique(np.stack([columns["image_id"], columns["caption_id"]]), axis=1).T),
    )
    try:
        with transaction.atomic():
            made.save()
            made.retrievals.set(pool.retrievals.all())
            insert_rows(Proposal, {"pool_id": made.pk, **columns}, step="writing proposals", progress=progress)
            told = {"pool": pool.name, "threshold": threshold, "dropped": pool.n_pairs - made.n_pairs}
            record("prefiltered", made, actor="prefilter", **told)
    except IntegrityError as error:
        raise CounterpartError(f"A pool {name} was made by somebody else meanwhile; run the same again.") from error
    return made
