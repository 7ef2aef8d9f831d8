"""Scores of single pairs, which arrive in parts: which pairs they are of, and the best items so far of each query."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]
Scores = NDArray[np.float32]


class SampledPairs:
    """Every pair of N images and M captions with a sampled image or a sampled caption; by image, then caption.

    The pairs are numbered and computed from their numbers, so memory is 16 bytes an image.
    """

    def __init__(self, shape: tuple[int, int], images: Places, captions: Places) -> None:
        """``images`` and ``captions`` are the places of the sampled ones in a gallery of this ``shape`` (N, M)."""
        self._sampled = np.zeros(shape[0], dtype=np.bool_)
        self._sampled[images] = True
        self._captions = np.sort(captions)
        self._counts = np.where(self._sampled, shape[1], len(captions))
        self._ends = np.cumsum(self._counts)

    def __len__(self) -> int:
        return int(self._ends[-1])

    def part(self, start: int, stop: int) -> tuple[Places, Places]:
        """Return the images and the captions of pairs number ``start`` to ``stop`` (exclusive, or the end)."""
        numbers = np.arange(start, min(stop, len(self)))
        images = np.searchsorted(self._ends, numbers, side="right")
        captions = numbers - self._ends[images] + self._counts[images]
        few = ~self._sampled[images]
        captions[few] = self._captions[captions[few]]
        return images, captions


class ListedPairs:
    """The distinct pairs of some lists; by image, then caption. Takes 8 bytes a pair."""

    def __init__(self, n_captions: int, lists: Sequence[tuple[Places, Places]]) -> None:
        """``lists`` are images and captions that broadcast to a shape; a -1 in either means no pair."""
        self._n_captions = n_captions
        listed = [(images * n_captions + captions)[(images >= 0) & (captions >= 0)] for images, captions in lists]
        self._pairs = np.unique(np.concatenate(listed))

    def __len__(self) -> int:
        return len(self._pairs)

    def part(self, start: int, stop: int) -> tuple[Places, Places]:
        """Return the images and the captions of pairs number ``start`` to ``stop`` (exclusive, or the end)."""
        images, captions = np.divmod(self._pairs[start:stop], self._n_captions)
        return images, captions


class BestSoFar:
    """The k best items of some queries, from pairs that arrive in parts, the items of a query by rising place."""

    def __init__(self, n: int, queries: Places, k: int) -> None:
        """``queries`` are places among ``n`` possible ones."""
        self._row = np.full(n, -1)
        self._row[queries] = np.arange(len(queries))
        self._items = np.full((len(queries), k), -1)
        self._scores = np.full((len(queries), k), -np.inf, dtype=np.float32)

    @property
    def found(self) -> tuple[Places, Scores]:
        """Items and scores, (queries, k), best first; of equal scores the item that arrived first."""
        return self._items, self._scores

    def feed(self, asking: Places, items: Places, scores: Scores) -> None:
        """Take in pairs: the asking side, the item and the score. Pairs of others than the queries are ignored."""
        rows = self._row[asking]
        # An item that only equals the last of a full list has the higher place, so it stays out.
        enters = (rows >= 0) & (scores > self._scores[rows, -1])
        touched, rows = np.unique(rows[enters], return_inverse=True)
        self._merge(touched, rows, items[enters], scores[enters])

    def _merge(self, touched: Places, rows: Places, items: Places, scores: Scores) -> None:
        """Sort the lists of the touched queries together with the new items, and keep the first k of each."""
        k = self._items.shape[1]
        rows = np.concatenate([np.repeat(np.arange(len(touched)), k), rows])
        items = np.concatenate([self._items[touched].ravel(), items])
        scores = np.concatenate([self._scores[touched].ravel(), scores])
        order = np.lexsort((-scores, rows))
        starts = np.searchsorted(rows[order], np.arange(len(touched)))
        kept = order[starts[:, None] + np.arange(k)]
        self._items[touched] = items[kept]
        self._scores[touched] = scores[kept]
