"""Pictures that training asks for again in every epoch, decoded in several threads and kept while there is room."""

import os
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from corpus.models import Image

Kind = TypeVar("Kind")

THREADS = min(8, os.cpu_count() or 1)
CACHE_BYTES = 512 * 2**20


class KeptPictures(Generic[Kind]):
    """What ``read`` makes of images, kept up to ``limit`` bytes: a small collection is decoded once, and of a large one
    what does not fit is decoded each time. May be asked by several threads."""

    def __init__(self, read: Callable[[Image], Kind], size: Callable[[Kind], int], limit: int = CACHE_BYTES) -> None:
        """``size`` tells how many bytes one takes."""
        self._read, self._size, self._room = read, size, limit
        self._kept: dict[int, Kind] = {}
        self._lock = Lock()

    def of(self, image: Image) -> Kind:
        """Raises what ``read`` raises."""
        kept = self._kept.get(image.pk)
        return self._keep(image, self._read(image)) if kept is None else kept

    def _keep(self, image: Image, picture: Kind) -> Kind:
        size = self._size(picture)
        with self._lock:
            if size <= self._room and image.pk not in self._kept:
                self._room -= size
                self._kept[image.pk] = picture
        return picture
