"""Encode rows in chunks, and keep the embeddings so that no search computes them twice."""

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from core.progress import Progress
from corpus.models import Caption, Image
from mitl.checkpoints import Checkpoints, remove_stale
from mitl.models import Annotator

CHUNK = 128  # rows given to an encoder at once
PART = 1024  # rows: the most that an interruption loses

Embeddings = NDArray[np.float32]
Row = TypeVar("Row", Image, Caption)
Encode = Callable[[Sequence[Row]], Embeddings]


class EmbeddingCache:
    """The embeddings that one annotator computed before, by its weights, settings and preprocessing, and by row.

    Without ``preprocessing`` nothing is kept. Folders to which nothing was added for two weeks are removed.
    """

    def __init__(self, annotator: Annotator, preprocessing: str | None) -> None:
        self._keeps = preprocessing is not None
        self._made_by = json.dumps(
            [annotator.kind, annotator.options, annotator.checksum, preprocessing], sort_keys=True
        )

    def part(self, rows: Sequence[Row], encode: Encode[Row]) -> Embeddings:
        """Return the embeddings of at most ``PART`` rows: kept ones, or those that ``encode`` computes, kept now."""
        if not self._keeps:
            return encode(rows)
        root = settings.VAR_DIR / "embeddings"
        remove_stale(root)
        kept = Checkpoints(root / hashlib.sha256(self._made_by.encode()).hexdigest())
        name = self._name(rows)
        found = kept.load(name)
        if found is None:
            found = {"embeddings": np.ascontiguousarray(encode(rows))}
            kept.save(name, **found)
        return found["embeddings"]

    def _name(self, rows: Sequence[Row]) -> str:
        """SHA-256 of the input: keys with the checksums of pictures, or with the texts of captions."""
        read = [[row.key, row.sha256] if isinstance(row, Image) else [row.key, row.text] for row in rows]
        return hashlib.sha256(json.dumps([type(rows[0]).__name__, read]).encode()).hexdigest()


def encode_rows(
    encode: Encode[Row], rows: Sequence[Row], cache: EmbeddingCache | None, step: str, progress: Progress
) -> Embeddings:
    """Return the embeddings of all rows; an interrupted encoding resumes after the last part in ``cache``."""
    done, parts = 0, []

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
