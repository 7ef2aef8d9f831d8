"""Smaller copies of pictures, made when they are first asked for."""

import os
import tempfile
from io import BytesIO
from pathlib import Path

from django.conf import settings
from PIL import Image as Pillow

from core.web.signatures import signature
from corpus.models import Image
from corpus.pictures.stored_pictures import open_picture

SIZES = (160, 320, 800, 1600, 2400)
LARGEST = max(SIZES)
NAMES = "corpus.thumbnails in sRGB"


def thumbnail(image: Image, size: int) -> Path:
    """Return the path of a cached JPEG of ``image``, upright and without metadata, whose longer side has at most
    ``size`` pixels.

    Raises CounterpartError if the picture is missing from storage.
    """
    cached = thumbnail_path(thumbnail_name(image.pk, image.sha256), size)
    if cached.exists():
        return cached
    picture = open_picture(image)
    picture.thumbnail((size, size), Pillow.Resampling.LANCZOS)
    buffer = BytesIO()
    picture.save(buffer, "JPEG", quality=78, optimize=True, progressive=True)
    cached.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=cached.parent, delete=False) as temporary:
        temporary.write(buffer.getvalue())
    os.replace(temporary.name, cached)
    return cached


def thumbnail_name(image: int, sha256: str) -> str:
    """Return the name of an image's copies. It depends on the picture and on the site's key alone, and reveals
    neither, so that it may be part of an address."""
    return signature(NAMES, sha256 or str(image), length=32)


def thumbnail_path(name: str, size: int) -> Path:
    """Return where the copy of a size is, if it was made."""
    return Path(settings.FILE_CACHE) / "thumbnails" / f"{name}-{size}.jpg"
