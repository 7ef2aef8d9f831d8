"""A collection's images and captions as numbers in the order of their external keys: what is packed by number
comes out the same in every database."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus.models import Collection
from hits.packing import Codes, distinct


@dataclass(frozen=True)
class Numbering:
    """Row ``code`` has database id ``ids[code]`` and external key ``keys[code]``; the keys ascend."""

    ids: Codes
    keys: list[str]

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def _code_of(self) -> Codes:
        """By id, less the lowest one, plus 1; both ends answer for ids that are not numbered."""
        codes = np.full(np.ptp(self.ids) + 3 if len(self) else 2, -1)
        codes[self.ids - self._lowest + 1] = np.arange(len(self))
        return codes

    @cached_property
    def _lowest(self) -> int:
        return int(self.ids.min()) if len(self) else 0

    def codes(self, ids: Any) -> Codes:
        """Return the code of every database id, -1 for those that are not numbered here. Same shape as ``ids``."""
        places = np.asarray(ids, np.int64) - self._lowest + 1
        return self._code_of[places.clip(0, len(self._code_of) - 1)]


@dataclass(frozen=True)
class Ground:
    """Both sides of a collection's pairs, numbered."""

    images: Numbering
    captions: Numbering

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.images), len(self.captions)

    def pair_codes(self, rows: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
        """Return rows of (image id, caption id) as distinct rows of codes (n, 2), ascending."""
        pairs = np.fromiter(rows, np.dtype((np.int64, 2)))
        cells = self.images.codes(pairs[:, 0]) * len(self.captions) + self.captions.codes(pairs[:, 1])
        return np.stack(np.divmod(distinct(cells), max(len(self.captions), 1)), axis=1)


def number_collection(collection: Collection) -> Ground:
    """Number a collection's images and captions."""
    return Ground(_number(collection.images), _number(collection.captions))


def _number(rows: Any) -> Numbering:
    by_key = sorted(rows.order_by().values_list("key", "pk"))
    return Numbering(np.array([pk for _, pk in by_key], np.int64), [key for key, _ in by_key])
