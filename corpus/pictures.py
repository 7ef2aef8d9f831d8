"""Pictures in the storage: verified before they are kept, upright and in RGB when they are opened."""

import hashlib
import warnings
from dataclasses import dataclass
from io import BytesIO

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from PIL import Image as Pillow
from PIL import ImageOps, UnidentifiedImageError

from core.errors import CounterpartError
from corpus.models import Image

# What every browser shows.
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP")
# Pillow calls the JPEGs of many phones MPO.
SUFFIXES = {"MPO": ".jpg", "JPEG": ".jpg", "PNG": ".png", "WEBP": ".webp", "GIF": ".gif", "BMP": ".bmp"}
# Pillow only warns of decompression bombs of this size; here they are refused, so the warning says nothing more.
MAX_PIXELS = 89_478_485
warnings.simplefilter("ignore", Pillow.DecompressionBombWarning)
ORIENTATION_TAG = 0x0112
TURNED = (5, 6, 7, 8)


class BrokenPictureError(CounterpartError):
    """Bytes that are not one whole picture; ``reason`` says why in a few words."""

    def __init__(self, key: str, file_name: str, reason: str) -> None:
        super().__init__(f"{file_name} (image {key}) is not a whole picture: {reason}. Replace it and try again.")
        self.reason = reason


@dataclass(frozen=True)
class StoredPicture:
    """Where a picture lies in the storage, its size in pixels as shown (EXIF turn applied), and its SHA-256."""

    file: str
    width: int
    height: int
    sha256: str


def store_picture(collection_name: str, key: str, file_name: str, content: bytes) -> StoredPicture:
    """Verify that ``content`` is one whole picture and keep it, byte for byte, under its checksum.

    Equal pictures of a collection share one file, so storing twice changes nothing. ``key`` is the image's,
    for the message. Raises BrokenPictureError if Pillow cannot decode it whole, or if it has too many pixels.
    """
    try:
        picture = _decoded(content)
    except Exception as error:  # on broken bytes Pillow's decoders raise nearly anything
        raise BrokenPictureError(key, file_name, _reason(error)) from error
    sha256 = hashlib.sha256(content).hexdigest()
    path = f"images/{collection_name}/{sha256[:32]}{SUFFIXES[str(picture.format)]}"
    width, height = picture.size
    if picture.getexif().get(ORIENTATION_TAG) in TURNED:
        width, height = height, width
    return StoredPicture(_kept(path, content), width, height, sha256)


def open_picture(image: Image) -> Pillow.Image:
    """Open an image's picture upright, as RGB, what is transparent on white.

    Raises CounterpartError if the image has no file, or the storage no longer has it.
    """
    if not image.file:
        raise CounterpartError(f"Image {image.key} has no picture file; import the collection again with --images.")
    try:
        with default_storage.open(image.file, "rb") as file:
            picture = _decoded(file.read())
    except Exception as error:
        raise CounterpartError(
            f"The picture of image {image.key} cannot be read ({_reason(error)}); import it again with --images."
        ) from error
    upright = ImageOps.exif_transpose(picture)
    if not upright.has_transparency_data:
        return upright.convert("RGB")
    opaque = upright.convert("RGBA")
    ground = Pillow.new("RGBA", opaque.size, "white")
    return Pillow.alpha_composite(ground, opaque).convert("RGB")


def _decoded(content: bytes) -> Pillow.Image:
    picture = Pillow.open(BytesIO(content), formats=FORMATS)
    if picture.width * picture.height > MAX_PIXELS:
        raise ValueError(f"{picture.width} x {picture.height} pixels are too many")
    picture.load()
    return picture


def _reason(error: Exception) -> str:
    if isinstance(error, UnidentifiedImageError):
        return "not a JPEG, PNG, WebP, GIF or BMP"
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__


def _kept(path: str, content: bytes) -> str:
    """Write the file unless it is there whole; a shorter one was left by a process that died writing it."""
    if default_storage.exists(path):
        if default_storage.size(path) == len(content):
            return path
        default_storage.delete(path)
    return default_storage.save(path, ContentFile(content))
