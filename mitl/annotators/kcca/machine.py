"""Images and captions in the space where their kernels correlate (Hodosh et al., section 3.2.2)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from corpus.models import Caption, Image
from mitl.annotators.base import Arrays, EmbeddingAnnotator, Embeddings, Settings
from mitl.annotators.classical.reading import PictureReader
from mitl.classical.correlation import Projection, features_of
from mitl.classical.documents import Documents
from mitl.classical.texts import Text
from mitl.classical.visual_words import intersections

PIVOTS = "pivot"  # the captions that further ones are compared with


class Spaces:
    """The features of both kernels, and their projections by each regularisation that was trained."""

    def __init__(self, settings: Settings, arrays: Arrays) -> None:
        """``arrays`` are what ``mitl.annotators.kcca.training.trained`` kept."""
        self._pictures, self._text = PictureReader(settings, arrays), Text(str(settings["text"]), arrays)
        self._power, self._arrays = int(settings["power"]), arrays
        self._pivots = self._text.kernel.read(Documents.from_arrays(arrays, PIVOTS))

    @property
    def n_regularisations(self) -> int:
        """How many regularisations were trained."""
        return len(self._arrays["image_directions"])

    def image_features(self, images: Sequence[Image]) -> NDArray[np.float64]:
        """Return the rows of the image kernel's factor, (N, r). Raises CounterpartError for unreadable pictures."""
        likeness = intersections(self._pictures.read(images), self._arrays["pivot_signatures"]).astype(np.float64)
        return features_of(likeness**self._power, self._arrays["image_triangle"])

    def caption_features(self, captions: Sequence[Caption]) -> NDArray[np.float64]:
        """Return the rows of the text kernel's factor, (M, s)."""
        documents = self._text.documents([caption.text] for caption in captions)
        kernel = self._text.kernel
        return features_of(kernel.compare(kernel.read(documents), self._pivots), self._arrays["text_triangle"])

    def projection(self, side: str, regularisation: int, dim: int) -> Projection:
        """Return the projection of a side, ``image`` or ``text``, by the regularisation of that number."""
        directions = self._arrays[f"{side}_directions"][regularisation, :, :dim]
        return Projection(self._arrays[f"{side}_mean"], directions)


class CorrelatedSpace(EmbeddingAnnotator):
    """Embedding annotator: unit rows, so that inner products are cosines."""

    def __init__(self, settings: Settings, arrays: Arrays) -> None:
        self._spaces, self._dim = Spaces(settings, arrays), int(settings["dim"])

    def encode_images(self, images: Sequence[Image]) -> Embeddings:
        """Return (N, dim); fewer columns where the kernels have no more. Raises CounterpartError for unreadable
        pictures."""
        return self._spaces.projection("image", 0, self._dim).of(self._spaces.image_features(images))

    def encode_captions(self, captions: Sequence[Caption]) -> Embeddings:
        """Return (M, dim), as wide as the images'."""
        return self._spaces.projection("text", 0, self._dim).of(self._spaces.caption_features(captions))
