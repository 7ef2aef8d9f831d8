"""Embeddings that were made before: kept by what made them and of what, so that no search makes them twice."""

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from django.conf import settings

from corpus.models import Caption, Image
from mitl.annotators import module_of
from mitl.annotators.base import Embeddings
from mitl.checkpoints import Checkpoints, remove_stale
from mitl.models import Annotator

PART = 1024  # rows: what is lost at most by an interruption

Row = TypeVar("Row", Image, Caption)
Encode = Callable[[Sequence[Row]], Embeddings]


class EmbeddingCache:
    """The embeddings that one machine made, by its weights, its settings and preprocessing, and by what it read.

    A machine whose module tells no ``PREPROCESSING`` keeps none. What nobody added to for a fortnight is removed.
    """

    def __init__(self, annotator: Annotator) -> None:
        preprocessing = getattr(module_of(annotator.kind), "PREPROCESSING", None)
        self._keeps = preprocessing is not None
        self._machine = json.dumps(
            [annotator.kind, annotator.options, annotator.checksum, preprocessing], sort_keys=True
        )

    def part(self, rows: Sequence[Row], encode: Encode[Row]) -> Embeddings:
        """Return the embeddings of at most ``PART`` rows: those kept, or those that ``encode`` makes, kept now."""
        if not self._keeps:
            return encode(rows)
        kept = self._open()
        name = self._name(rows)
        found = kept.load(name)
        if found is None:
            found = {"embeddings": np.ascontiguousarray(encode(rows))}
            kept.save(name, **found)
        return found["embeddings"]

    def _open(self) -> Checkpoints:
        root = settings.VAR_DIR / "embeddings"
        remove_stale(root)
        return Checkpoints(root / hashlib.sha256(self._machine.encode()).hexdigest())

    def _name(self, rows: Sequence[Row]) -> str:
        """SHA-256 of what is read: pictures by their checksums, captions by their texts, both by key."""
        read = [[row.key, row.sha256] if isinstance(row, Image) else [row.key, row.text] for row in rows]
        return hashlib.sha256(json.dumps([type(rows[0]).__name__, read]).encode()).hexdigest()
