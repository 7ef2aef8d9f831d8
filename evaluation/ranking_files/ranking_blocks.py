"""Blocks of rankings: the ids of a gallery, and lists of ids as rows of numbers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.errors import CounterpartError, some_of
from core.text import counted
from corpus.models import Collection
from evaluation.metrics import Rankings
from mitl.models import Direction

SIZE = 2_000_000  # entries of lists that are in memory at a time
Whole = NDArray[np.int64]


class Block(NamedTuple):
    """The rankings of some queries of one direction."""

    direction: Direction
    rankings: Rankings


class Keys:
    """The ids of one side of a gallery, as text, and the number that stands for each."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self._texts = pd.Index(list(numbers), dtype=object)
        self._numbers = np.fromiter(numbers.values(), np.int64, len(numbers))
        whole = [(int(key), number) for key, number in numbers.items() if key.isdecimal() and str(int(key)) == key]
        self._whole = pd.Index(np.array([key for key, _ in whole], np.int64))
        self._whole_numbers = np.array([number for _, number in whole], np.int64)

    def __len__(self) -> int:
        return len(self._numbers)

    def find(self, ids: NDArray) -> NDArray[np.integer]:
        """Return the numbers of ids, whole numbers or texts of any shape; -1 for those that are unknown."""
        flat = ids.ravel()
        if flat.dtype.kind in "iu":
            places = self._whole.get_indexer(pd.Index(flat.astype(np.int64)))
            numbers = self._whole_numbers
        else:
            places = self._texts.get_indexer(pd.Index(flat, dtype=object))
            numbers = self._numbers
        small = self._numbers.max(initial=0) < 2**31  # half the memory for whole rankings
        found: NDArray[np.integer] = np.full(len(flat), -1, np.int32 if small else np.int64)
        found[places >= 0] = numbers[places[places >= 0]]
        return found.reshape(ids.shape)

    def names(self, numbers: Whole) -> NDArray[np.object_]:
        """Return the ids that stand for known numbers."""
        order = np.argsort(self._numbers)
        places = np.searchsorted(self._numbers, numbers, sorter=order)
        return self._texts.to_numpy()[order[np.minimum(places, len(order) - 1)]]


@dataclass(frozen=True)
class Ids:
    """The ids that a ranking file may name: those of the gallery."""

    images: Keys
    captions: Keys

    @classmethod
    def of_collection(cls, collection: Collection) -> "Ids":
        """The collection's own ids, which stand for its database ids."""
        images, captions = collection.images.gallery(), collection.captions.gallery()
        return cls(*(Keys(dict(rows.values_list("key", "pk").iterator())) for rows in (images, captions)))

    @classmethod
    def of_numbers(cls, images: Iterable[int], captions: Iterable[int]) -> "Ids":
        """Ids that stand for themselves, as COCO's do."""
        return cls(*(Keys({str(number): int(number) for number in numbers}) for numbers in (images, captions)))

    def of(self, direction: Direction) -> tuple[Keys, Keys]:
        """Return the ids of queries and of items."""
        return (self.images, self.captions) if direction == Direction.IMAGE_TO_CAPTION else (self.captions, self.images)


def ranked_block(
    name: str,
    direction: Direction,
    ids: Ids,
    queries: NDArray,
    items: NDArray,
    ended: NDArray[np.bool_],
    scores: NDArray | None = None,
) -> Block:
    """Translate ids; ``ended`` (Q, depth) is True after the end of a list. Scores may not rise along a list."""
    if scores is not None:
        scores = np.where(ended, -np.inf, scores)
        wrong = np.isnan(scores).any(1) | (scores[:, 1:] > scores[:, :-1]).any(1)
        if wrong.any():
            raise CounterpartError(
                f"{name}: the scores of {wrong.sum()} lists {direction.label} rise or are NaN, for example those of "
                f"{queries[wrong.argmax()]}. List the best item first."
            )
    query_keys, item_keys = ids.of(direction)
    found = query_keys.find(queries)
    listed = np.where(ended, -1, item_keys.find(items))
    unknown = [*queries[found < 0].tolist(), *items[(listed < 0) & ~ended].tolist()]
    if unknown:
        named = sorted({str(one) for one in unknown})
        raise CounterpartError(
            f"The gallery lacks {counted(len(named), 'id')} of {name} ({direction.value}): {some_of(named)}. Use the "
            "ids of the collection, and leave out training images."
        )
    order = np.argsort(found)
    if (again := found[order][1:] == found[order][:-1]).any():
        raise CounterpartError(
            f"{name} ranks query {queries[order][1:][again][0]} {direction.label} twice. Keep one list of each, "
            "with its lines together."
        )
    return Block(
        direction, Rankings(found[order].astype(np.int64), listed[order], None if scores is None else scores[order])
    )


def padded(flat: NDArray, lengths: Whole) -> tuple[NDArray, NDArray[np.bool_]]:
    """Lay lists that follow one another out as rows (Q, depth); also return where they have ended."""
    depth = int(lengths.max(initial=0))
    ended = np.arange(depth) >= lengths[:, None]
    rows = np.full((len(lengths), depth), "" if flat.dtype.kind == "O" else -1, flat.dtype)
    rows[~ended] = flat
    return rows, ended
