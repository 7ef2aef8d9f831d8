"""Images and captions as plain data, which annotators read, score and learn from."""

from dataclasses import dataclass

from PIL import Image as Pillow
from PIL import ImageOps

from counterpart_metrics.errors import CounterpartError

TO_CAPTIONS = "i2t"
"""The direction of a search in which an image looks for captions."""
TO_IMAGES = "t2i"
"""The direction of a search in which a caption looks for images."""


@dataclass(frozen=True)
class PlainImage:
    """An image.

    Attributes:
        key: its id, different for every image of a collection or training.
        file: the path of its picture; empty where it has none.
        sha256: of the picture; equal pictures are encoded alike.
        searched: whether it is in the gallery that is searched.
    """

    key: str
    file: str = ""
    sha256: str = ""
    searched: bool = False

    def open(self) -> Pillow.Image:
        """Return the picture, upright and RGB. Raises CounterpartError for one that is missing or cannot be read."""
        if not self.file:
            raise CounterpartError(f"Image {self.key} has no picture file.")
        try:
            with Pillow.open(self.file) as picture:
                return ImageOps.exif_transpose(picture).convert("RGB")
        except Exception as error:  # Pillow's decoders raise many kinds of errors for broken bytes
            raise CounterpartError(f"The picture of image {self.key} cannot be read ({error}).") from error


@dataclass(frozen=True)
class PlainCaption:
    """A caption: its key, its text, and the key of the image that it was written for, empty if unknown."""

    key: str
    text: str
    image: str = ""
