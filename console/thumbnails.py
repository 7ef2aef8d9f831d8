"""Small JPEGs of stored pictures, made once per picture and size and kept in the local cache."""

import os
import tempfile
from io import BytesIO
from pathlib import Path

from django.conf import settings
from PIL import Image as Picture

from corpus.models import Image
from corpus.pictures import open_picture

SIZES = (160, 320, 800)


def thumbnail(image: Image, size: int) -> Path:
    """Return the path of a JPEG of ``image`` whose longer side has at most ``size`` pixels.

    Raises CounterpartError if the picture is not in the storage.
    """
    cached = Path(settings.FILE_CACHE) / "thumbnails" / f"{image.sha256 or image.pk}-{size}.jpg"
    if cached.exists():
        return cached
    picture = open_picture(image)
    picture.thumbnail((size, size), Picture.Resampling.LANCZOS)
    buffer = BytesIO()
    picture.save(buffer, "JPEG", quality=84, optimize=True)
    cached.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=cached.parent, delete=False) as temporary:
        temporary.write(buffer.getvalue())
    os.replace(temporary.name, cached)
    return cached
