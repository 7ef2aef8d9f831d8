"""Rows as plain data, which annotators read (``counterpart_annotators.plain``), and the embeddings computed of them."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from django.conf import settings
from PIL import Image as Pillow

from core.files.stored_files import remove_stale
from corpus.models import Caption, Image
from corpus.pictures.stored_pictures import open_picture
from counterpart_annotators.checkpoints import Checkpoints
from counterpart_annotators.encoding import Embeddings, Encode, Row
from counterpart_annotators.plain import PlainCaption, PlainImage
from mitl.models import Annotator


@dataclass(frozen=True)
class StoredImage(PlainImage):
    """An image whose picture is in the storage."""

    def open(self) -> Pillow.Image:
        return open_picture(self)


def plain_images(rows: Iterable[Image]) -> list[PlainImage]:
    """Return images in their order."""
    return [StoredImage(row.key, row.file, row.sha256, searched=row.split not in Image.TRAINING_SPLITS) for row in rows]


def plain_captions(rows: Iterable[Caption], keys: dict[int, str]) -> list[PlainCaption]:
    """Return captions in their order; ``keys`` are the keys of images by their ids, of those that are needed."""
    return [PlainCaption(row.key, row.text, keys.get(row.image_id, "")) for row in rows]


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
