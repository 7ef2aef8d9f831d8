"""The ids of images and captions: their order, and the numbers that represent them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from counterpart_metrics.arrays import Integers, Mask
from counterpart_metrics.text_files import bare, comparable

LARGEST_TABLE = 2**24  # whole numbers below are looked up in a table, others searched
_LARGEST = np.iinfo(np.int64).max
_WHOLE_FLOAT = re.compile(r"(0|[1-9][0-9]{0,15})\.0")


def plain_id(value: object) -> object:
    """Return the id that a cell of a table means: a whole number as text, others without blanks and invisible
    characters at their ends. A number such as 12.0, which pandas makes of ids in a column with a gap, is 12.

    >>> plain_id(12.0), plain_id(" 12.0"), plain_id(None)
    ('12', '12', None)
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if isinstance(value, str):
        value = bare(value)
        return value.removesuffix(".0") if _WHOLE_FLOAT.fullmatch(value) else value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def number_or_text(key: str) -> int | str:
    """Return an id as a number if it is written like one, as COCO's are."""
    return int(key) if key.isascii() and key.isdigit() and str(int(key)) == key else key


def sort_key(key: str) -> tuple[bool, int, str]:
    """Sort ids that are numbers by size and before texts."""
    number = number_or_text(key)
    return (isinstance(number, str), number if isinstance(number, int) else 0, key)


class Keys:
    """The ids of one side of a gallery, as text, and the number that represents each."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self._number_of = dict(numbers)
        self._numbers = np.fromiter(numbers.values(), np.int64, len(numbers))
        pairs = ((number_or_text(key), number) for key, number in numbers.items())
        whole = sorted((key, number) for key, number in pairs if isinstance(key, int) and key < _LARGEST)
        self._whole, self._whole_numbers = np.array([*whole, (_LARGEST, -1)], np.int64).T.copy()
        self._table: Integers | None = None  # the number of id n at n + 1; -1 at both ends
        if not whole or whole[-1][0] < LARGEST_TABLE:
            self._table = np.full(whole[-1][0] + 3 if whole else 2, -1, np.int64)
            self._table[self._whole[:-1] + 1] = self._whole_numbers[:-1]

    def __len__(self) -> int:
        return len(self._numbers)

    def knows(self, ids: NDArray) -> Mask:
        """Return which ids are of this side."""
        return Keys.find(self, ids) >= 0

    def find(self, ids: NDArray) -> NDArray[np.integer]:
        """Return the numbers of ids, whole numbers or texts of any shape; -1 for those that are unknown."""
        flat = ids.ravel()
        small = self._numbers.max(initial=0) < 2**31  # half the memory for whole rankings
        dtype = np.int32 if small else np.int64
        found: NDArray[np.integer]
        if flat.dtype.kind in "iu":
            flat = flat.astype(np.int64)
            if self._table is not None:
                found = self._table.take(flat + 1, mode="clip").astype(dtype)
            else:
                places = np.searchsorted(self._whole, flat)
                found = np.where(self._whole[places] == flat, self._whole_numbers[places], -1).astype(dtype)
        else:
            found = np.fromiter(map(self._number_of.get, flat.tolist(), repeat(-1)), dtype, len(flat))
            for place in np.flatnonzero(found < 0).tolist():
                key = str(flat[place])
                if not key.isascii() or key.endswith(".0"):  # it may differ in what no reader sees, or be a decimal
                    found[place] = self._by_look.get(comparable(key).removesuffix(".0"), -1)
        return found.reshape(ids.shape)

    @cached_property
    def _by_look(self) -> dict[str, int]:
        return {comparable(key): number for key, number in self._number_of.items()}

    @property
    def strangers(self) -> list[str]:
        """The ids that were searched and not known at the beginning."""
        return []

    def count_strangers(self, numbers: NDArray[np.integer]) -> int:
        """Return how many of these numbers are those of strangers."""
        return 0

    def names(self, numbers: Integers) -> NDArray[np.object_]:
        """Return the ids of known numbers."""
        order = np.argsort(self._numbers)
        places = np.searchsorted(self._numbers, numbers, sorter=order)
        return np.array(list(self._number_of), object)[order[np.minimum(places, len(order) - 1)]]


class OpenKeys(Keys):
    """Some ids of one side of a gallery; every other id that is searched is added, under the next number."""

    def __init__(self, known: Iterable[str]) -> None:
        super().__init__({key: number for number, key in enumerate(dict.fromkeys(known))})
        self._known = len(self)

    @property
    def strangers(self) -> list[str]:
        return list(self._number_of)[self._known :]

    def count_strangers(self, numbers: NDArray[np.integer]) -> int:
        return int((numbers >= self._known).sum())

    def knows(self, ids: NDArray) -> Mask:
        """Return which ids were known at the beginning."""
        found = Keys.find(self, ids)
        return (found >= 0) & (found < self._known)

    def find(self, ids: NDArray) -> NDArray[np.integer]:
        """Return the numbers of ids; -1 for negative whole numbers, which are invalid."""
        found = super().find(ids)
        if (found < 0).any():
            more = dict.fromkeys(map(str, np.unique(ids[found < 0]).tolist()))
            self.__dict__.pop("_by_look", None)
            Keys.__init__(self, self._number_of | {key: len(self) + place for place, key in enumerate(more)})
            found = super().find(ids)
        return found


@dataclass(frozen=True)
class Ids:
    """The ids that a ranking file may name: those of the gallery. ``left_out``: queries that were read and are none."""

    images: Keys
    captions: Keys
    left_out: dict[str, None] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether all ids of the gallery are known."""
        return not isinstance(self.images, OpenKeys)

    @classmethod
    def of_numbers(cls, images: Iterable[int], captions: Iterable[int]) -> "Ids":
        """Ids that are whole numbers and represent themselves, as COCO's."""
        sides = [Keys({str(number): int(number) for number in numbers}) for numbers in (images, captions)]
        return cls(sides[0], sides[1])

    def of(self, direction: str) -> tuple[Keys, Keys]:
        """Return the ids of queries and of items."""
        return (self.images, self.captions) if direction == "i2t" else (self.captions, self.images)
