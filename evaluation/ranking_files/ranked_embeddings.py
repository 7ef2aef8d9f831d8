"""Embeddings in NumPy's .npz, which are ranked here; lists in one are those of ``counterpart_metrics``."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError, some_of
from core.text import counted
from counterpart_metrics import Rankings, ranking_blocks
from counterpart_metrics.array_lists import opened_npz, read_npz
from counterpart_metrics.arrays import NO_ITEM
from counterpart_metrics.ids import Ids, Keys
from counterpart_metrics.needed_lists import EVERYTHING, Needs
from counterpart_metrics.ranking_blocks import Block
from mitl.annotators.files import EMBEDDING_PARTS, adopt
from mitl.models import Direction


def read_lists_or_embeddings(path: Path, name: str, ids: Ids, needs: Needs = EVERYTHING) -> Iterator[Block]:
    """Yield the lists of a file, or of its embeddings those that are needed."""
    with opened_npz(path, name) as arrays:
        embedded = set(arrays.files) >= set(EMBEDDING_PARTS)
        yield from _from_embeddings(path, name, ids, needs) if embedded else read_npz(path, name, ids)


def _from_embeddings(path: Path, name: str, ids: Ids, needs: Needs) -> Iterator[Block]:
    """Rank a gallery whose embeddings are all there, by inner products."""
    # Loading its compiled code takes a second, which only a search should cost.
    from counterpart_topk import topk_of_products

    arrays = adopt(path, {}).arrays
    images, captions = (
        _numbers_of(name, side, keys, arrays[f"{side[:-1]}_ids"])
        for side, keys in (("images", ids.images), ("captions", ids.captions))
    )
    sides = (images, arrays["images"]), (captions, arrays["captions"])
    for direction, needed in needs.items():
        (asking, queries), (listed, items) = sides if direction == Direction.IMAGE_TO_CAPTION else sides[::-1]
        chosen = np.argsort(asking)
        if needed.queries is not None:
            chosen = chosen[np.isin(asking[chosen], needed.queries)]
        depth = min(needed.depth, len(listed))
        rows = max(1, ranking_blocks.SIZE // depth)
        for start in range(0, len(chosen), rows):
            some = chosen[start : start + rows]
            places, scores = topk_of_products(queries[some], items, depth)
            found = np.where(places < 0, NO_ITEM, listed[places])
            yield Block(direction, Rankings(asking[some].astype(np.int64), found, scores.astype(np.float64)))


def _numbers_of(name: str, side: str, keys: Keys, given: NDArray) -> NDArray[np.integer]:
    """Return the numbers of a side's ids. Raises CounterpartError unless they are those of the gallery."""
    found = keys.find(given)
    if unknown := given[found < 0].tolist():
        raise CounterpartError(
            f"{name} has {counted(len(unknown), 'id')} of {side} that the gallery does not have: "
            f"{some_of(sorted(unknown))}. Use the ids of the collection, and leave out training images."
        )
    if missing := len(keys) - len(found):
        raise CounterpartError(
            f"{name} has no embedding of {missing} of {len(keys)} {side} of the gallery, which is ranked whole. "
            "Embed them too."
        )
    return found
