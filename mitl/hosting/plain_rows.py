"""Rows as plain data, which annotators read (``counterpart_annotators.plain``), with pictures from the storage."""

from collections.abc import Iterable
from dataclasses import dataclass

from PIL import Image as Pillow

from corpus.models import Caption, Image
from corpus.pictures.stored_pictures import open_picture
from counterpart_annotators.plain import PlainCaption, PlainImage


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
