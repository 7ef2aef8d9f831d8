"""How much the annotators of a pool agree: counted when it is made, and stored, as a pool never changes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.files.stored_files import read_json, write_json
from counterpart_statistics.pair_codes import pair_codes
from mitl.models import Annotator, Pool

Ids = NDArray[np.int64]
ROW = np.dtype([("annotator", np.int64), ("image", np.int64), ("caption", np.int64)])


@dataclass(frozen=True)
class Overlap:
    """How much the annotators of a pool agree, over its distinct pairs, whichever direction proposed them.

    ``shared`` (n, n): pairs that the row's and the column's annotator both proposed; the diagonal: all of one's pairs.
    ``alone`` (n,): pairs that no other annotator of the pool proposed.
    """

    annotators: list[Annotator]
    shared: NDArray[np.int64]
    alone: NDArray[np.int64]


def overlap(pool: Pool) -> Overlap:
    """Return what was counted when the pool was made; of a pool of an earlier program, count it now."""
    counts = read_json(_path(pool))
    if counts is None:
        columns = pool.proposals.order_by().values_list("annotator_id", "image_id", "caption_id")
        rows = np.fromiter(columns.iterator(), ROW)
        counts = count_overlap(pool, rows["annotator"], rows["image"], rows["caption"])
    known = Annotator.objects.in_bulk(counts["annotators"])
    return Overlap(
        annotators=[known[annotator] for annotator in counts["annotators"]],
        shared=np.array(counts["shared"], np.int64).reshape(len(known), len(known)),
        alone=np.array(counts["alone"], np.int64),
    )


def count_overlap(pool: Pool, annotators: Ids, images: Ids, captions: Ids) -> dict[str, list[Any]]:
    """Count and store the overlap of a pool with these proposals, as ids."""
    ids, place = np.unique(annotators, return_inverse=True)
    pairs, pair = np.unique(pair_codes(images, captions), return_inverse=True)
    proposed = np.zeros((len(ids), len(pairs)), bool)
    proposed[place, pair] = True
    counts = {
        "annotators": ids.tolist(),
        "shared": [[int((one & other).sum()) for other in proposed] for one in proposed],
        "alone": proposed[:, proposed.sum(axis=0) == 1].sum(axis=1).tolist(),
    }
    write_json(_path(pool), counts)
    return counts


def _path(pool: Pool) -> str:
    return f"overlaps/pool-{pool.pk}-{pool.n_proposals}.json"
