"""Embeddings of many rows: computed in chunks, and taken from a cache where one is given."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from counterpart_annotators.plain import PlainCaption, PlainImage
from counterpart_annotators.progress import Progress

CHUNK = 128  # rows given to an encoder at once
PART = 1024  # rows: the most that an interruption loses

Embeddings = NDArray[np.float32]
Row = TypeVar("Row", PlainImage, PlainCaption)
Encode = Callable[[Sequence[Row]], Embeddings]


class Cache(Protocol):
    """Embeddings that were computed before."""

    def part(self, rows: Sequence[Row], encode: Encode[Row]) -> Embeddings:
        """Return the embeddings of at most ``PART`` rows: kept ones, or those that ``encode`` computes, kept now."""


def encode_rows(
    encode: Encode[Row], rows: Sequence[Row], cache: Cache | None, step: str, progress: Progress
) -> Embeddings:
    """Return the embeddings of all rows; an interrupted encoding resumes after the last part in ``cache``."""
    done = 0
    parts = []

    def in_chunks(part: Sequence[Row]) -> Embeddings:
        chunks = []
        for start in range(0, len(part), CHUNK):
            if start:
                progress(step, done + start, len(rows))
            chunks.append(encode(part[start : start + CHUNK]))
        return np.concatenate(chunks)

    while done < len(rows):
        part = rows[done : done + PART]
        parts.append(cache.part(part, in_chunks) if cache else in_chunks(part))
        done += len(part)
        progress(step, done, len(rows))
    return np.concatenate(parts)
