"""Smaller copies of pictures, made when they are first asked for."""

import os
import tempfile
from io import BytesIO
from pathlib import Path

from django.conf import settings
from PIL import Image as Pillow

from corpus.models import Image
from corpus.pictures import open_picture

SIZES = (160, 320, 800, 1600, 2400)
LARGEST = max(SIZES)


def thumbnail(image: Image, size: int) -> Path:
    """Return the path of a cached JPEG of ``image``, upright and without metadata, whose longer side has at most
    ``size`` pixels.

    Raises CounterpartError if the picture is missing from storage.
    """
    cached = Path(settings.FILE_CACHE) / "thumbnails" / f"{image.sha256 or image.pk}-{size}.jpg"
    if cached.exists():
        return cached
    picture = open_picture(image)
    picture.thumbnail((size, size), Pillow.Resampling.LANCZOS)
    buffer = BytesIO()
    picture.save(buffer, "JPEG", quality=84, optimize=True)
    cached.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=cached.parent, delete=False) as temporary:
        temporary.write(buffer.getvalue())
    os.replace(temporary.name, cached)
    return cached
