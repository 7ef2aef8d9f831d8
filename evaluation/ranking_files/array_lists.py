"""Rankings in NumPy's .npz: lists, or embeddings that are ranked here."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.text import counted
from evaluation.ranking_files import ranking_blocks
from evaluation.ranking_files.ranking_blocks import Block, Ids, ranked_block
from mitl.annotators.files import EMBEDDING_PARTS, adopt
from mitl.models import Direction

EMBEDDED_DEPTH = 1000  # length of the lists that are made of embeddings


def read_npz(path: Path, name: str, ids: Ids) -> Iterator[Block]:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            held = set(arrays.files)
            if held >= set(EMBEDDING_PARTS):
                yield from _from_embeddings(path, name, ids)
                return
            directions = [direction for direction in Direction if f"{direction.value}_queries" in held]
            if not directions:
                raise CounterpartError(
                    f"{name} holds neither i2t_queries and i2t_items, nor the same of t2i, nor the embeddings "
                    f"{', '.join(EMBEDDING_PARTS)}. Write it again."
                )
            for direction in directions:
                yield from _array_blocks(name, direction, ids, arrays, held)
    except (ValueError, TypeError, EOFError, AttributeError, KeyError, BadZipFile) as error:
        # NumPy takes what it cannot read for pickled data, and advises to load it unsafely.
        reason = "it is none, or holds Python objects" if "pickle" in str(error) else error
        raise CounterpartError(f"{name} is not a readable .npz ({reason}). Write it again, without objects.") from error


def _array_blocks(
    name: str, direction: Direction, ids: Ids, arrays: Mapping[str, NDArray], held: set[str]
) -> Iterator[Block]:
    parts = {part: f"{direction.value}_{part}" for part in ("queries", "items", "scores")}
    if parts["items"] not in held:
        raise CounterpartError(f"{name} has {parts['queries']} but no {parts['items']}. Write both.")
    queries, items = arrays[parts["queries"]], arrays[parts["items"]]
    scores = arrays[parts["scores"]] if parts["scores"] in held else None
    if queries.ndim != 1 or items.ndim != 2 or len(items) != len(queries):
        raise CounterpartError(
            f"{name}: {parts['queries']} must have the shape (Q,) and {parts['items']} (Q, depth), not {queries.shape} "
            f"and {items.shape}."
        )
    if queries.dtype.kind not in "iuU" or items.dtype.kind not in "iuU":
        raise CounterpartError(f"{name}: ids are whole numbers or texts, not {queries.dtype} and {items.dtype}.")
    if scores is not None and (scores.shape != items.shape or scores.dtype.kind not in "iuf"):
        raise CounterpartError(f"{name}: {parts['scores']} must be numbers of shape {items.shape}.")
    rows = max(1, ranking_blocks.SIZE // max(1, items.shape[1]))
    for start in range(0, len(queries), rows):
        some = slice(start, start + rows)
        given = None if scores is None else scores[some].astype(np.float64)
        ended = _ends(name, queries[some], items[some])
        yield ranked_block(name, direction, ids, queries[some], items[some], ended, given)


def _ends(name: str, queries: NDArray, items: NDArray) -> NDArray[np.bool_]:
    """Return where lists of -1 or empty texts have ended."""
    ended = items == ("" if items.dtype.kind == "U" else -1)
    gaps = (ended[:, :-1] & ~ended[:, 1:]).any(1)
    if gaps.any():
        query = queries[gaps.argmax()]
        going_on = counted(gaps.sum(), "list goes", "lists go")
        raise CounterpartError(f"{name}: {going_on} on after their end, for example that of {query}.")
    return ended


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
                name, direction, ids, asking[some], listed[places], places < 0, scores.astype(np.float64)
            )
