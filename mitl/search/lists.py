"""Ranked lists: what one annotator found for each query, best first, in both directions."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.files import StoredFile, read_arrays, write_arrays
from mitl.models import Direction, Retrieval
from mitl.search.gallery import BothFound, Gallery

Ids = NDArray[np.int64]
Scores = NDArray[np.float32]


@dataclass(frozen=True)
class RankedLists:
    """One direction: row q lists the items found for query q, best first.

    ``queries`` (Q,) and ``items`` (Q, k) hold database ids: images and captions for i2t, captions and images
    for t2i. ``scores`` (Q, k) are the annotator's own. Shorter lists are padded with item 0 and score -inf.
    """

    queries: Ids
    items: Ids
    scores: Scores

    def top(self, k: int) -> "RankedLists":
        """Return the first ``k`` places of every list."""
        return RankedLists(self.queries, self.items[:, :k], self.scores[:, :k])


BothLists = dict[Direction, RankedLists]


def with_ids(gallery: Gallery, found: BothFound) -> BothLists:
    """Return lists of places in the gallery as lists of ids."""
    return {
        direction: RankedLists(
            gallery.ids_of_queries(direction)[gallery.asks(direction)],
            np.where(places < 0, 0, gallery.ids_of_items(direction)[places]),
            scores.astype(np.float32),
        )
        for direction, (places, scores) in found.items()
    }


def store_lists(prefix: str, lists: BothLists) -> StoredFile:
    """Write the lists of the directions present as one file."""
    arrays = {
        f"{direction.value}_{part}": getattr(ranked, part)
        for direction, ranked in lists.items()
        for part in ("queries", "items", "scores")
    }
    return write_arrays(prefix, **arrays)


def load_lists(retrieval: Retrieval) -> BothLists:
    """Read a retrieval's lists; a direction that was not searched is absent."""
    arrays = read_arrays(StoredFile(retrieval.file, retrieval.sha256))
    return {
        direction: RankedLists(*(arrays[f"{direction.value}_{part}"] for part in ("queries", "items", "scores")))
        for direction in Direction
        if f"{direction.value}_queries" in arrays
    }
