"""Embeddings in NumPy's .npz, which are ranked here; lists in one are those of ``counterpart_metrics``."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from core.errors import CounterpartError
from counterpart_metrics import ranking_blocks
from counterpart_metrics.array_lists import opened_npz, read_npz
from counterpart_metrics.ids import Ids
from counterpart_metrics.ranking_blocks import Block, ranked_block
from mitl.annotators.files import EMBEDDING_PARTS, adopt
from mitl.models import Direction

EMBEDDED_DEPTH = 1000  # length of the lists that are made of embeddings


def read_lists_or_embeddings(path: Path, name: str, ids: Ids) -> Iterator[Block]:
    with opened_npz(path, name) as arrays:
        embedded = set(arrays.files) >= set(EMBEDDING_PARTS)
        yield from (_from_embeddings if embedded else read_npz)(path, name, ids)


def _from_embeddings(path: Path, name: str, ids: Ids) -> Iterator[Block]:
    """Rank a gallery whose embeddings are all there, by inner products."""
    # Loading its compiled code takes a second, which only a search should cost.
    from mitl.topk import topk_of_products

    arrays = adopt(path, {}).arrays
    sides = {"images": ids.images, "captions": ids.captions}
    for side, keys in sides.items():
        given = arrays[f"{side[:-1]}_ids"]
        if (missing := len(keys) - int((keys.find(given) >= 0).sum())) > 0:
            raise CounterpartError(
                f"{name} has no embedding of {missing} of {len(keys)} {side} of the gallery, which is ranked whole. "
                "Embed them too."
            )
    for direction in Direction:
        queries, items = ("images", "captions") if direction == Direction.IMAGE_TO_CAPTION else ("captions", "images")
        asking, listed = arrays[f"{queries[:-1]}_ids"], arrays[f"{items[:-1]}_ids"]
        depth = min(EMBEDDED_DEPTH, len(listed))
        rows = max(1, ranking_blocks.SIZE // depth)
        for start in range(0, len(asking), rows):
            some = slice(start, start + rows)
            places, scores = topk_of_products(arrays[queries][some], arrays[items], depth)
            yield ranked_block(
                name, direction.value, ids, asking[some], listed[places], places < 0, scores.astype(np.float64)
            )
