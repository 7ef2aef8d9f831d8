"""Embeddings that annotators computed: kept so that no search computes them twice."""

import hashlib
import json
from collections.abc import Sequence

import numpy as np
from django.conf import settings

from core.files.stored_files import remove_stale
from counterpart_annotators.checkpoints import Checkpoints
from counterpart_annotators.encoding import Embeddings, Encode, Row
from counterpart_annotators.plain import PlainImage
from mitl.models import Annotator


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
        arrays = kept.load(name)
        if arrays is None:
            arrays = {"embeddings": np.ascontiguousarray(encode(rows))}
            kept.save(name, **arrays)
        return arrays["embeddings"]

    def _name(self, rows: Sequence[Row]) -> str:
        """SHA-256 of the input: keys with the checksums of pictures, or with the texts of captions."""
        read = [[row.key, row.sha256] if isinstance(row, PlainImage) else [row.key, row.text] for row in rows]
        side = "Image" if isinstance(rows[0], PlainImage) else "Caption"
        return hashlib.sha256(json.dumps([side, read]).encode()).hexdigest()
