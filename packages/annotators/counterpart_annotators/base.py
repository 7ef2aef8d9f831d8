"""What every annotator is: something that scores images and captions.

A kind of annotator is a module: one of ``counterpart_annotators.kinds``, one of a site, or one that an installed
package names as an entry point ``counterpart.annotators``. It declares, where they apply, ``OPTIONS``, its options by
name (``counterpart_annotators.options``); ``CHECKPOINT`` (``required``, ``optional``, or ``none``, the default);
``LOSSES``, the default first; ``CROSS_ENCODER = True``; and ``PREPROCESSING``, a text that changes whenever the
processing of pictures and words ahead of the network changes. It defines

- ``open_annotator(stored, device)``, which opens a ``StoredAnnotator`` on ``cpu`` or ``cuda`` as an ``OpenAnnotator``;

and, where they apply,

- ``adopt(path, settings)``, which reads a checkpoint and returns it as ``Adopted``;
- ``train(examples, plan, progress)`` (``counterpart_annotators.training.learners``);
- ``architecture(settings, arrays)``, which describes the network for its page: a text by name.

Commands and pages read what a kind declares. Where its work needs torch or another large package, the kind is a
folder: ``__init__`` describes it and declares, with ``LEARNS = True`` if it can be trained; ``annotator`` defines the
functions.

An annotator is one of five classes: embeddings (``EmbeddingAnnotator``), embeddings that are compared by a function of
its own (``ComparingAnnotator``), scores in blocks (``PairScorer``), scores of single pairs (``CrossEncoder``), finished
lists (``ListAnnotator``).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from counterpart_topk.hubness.score_blocks import Blocks
from numpy.typing import NDArray

from counterpart_annotators.encoding import Cache, Embeddings, encode_rows
from counterpart_annotators.kinds.vlm.spending import Ledger
from counterpart_annotators.options import Settings
from counterpart_annotators.plain import PlainCaption, PlainImage
from counterpart_annotators.progress import Progress, silent
from counterpart_metrics.errors import CounterpartError, some_of

Arrays = dict[str, NDArray]
Images = Sequence[PlainImage]
Captions = Sequence[PlainCaption]
Places = NDArray[np.int64]
Compare = Callable[[Embeddings, Embeddings], NDArray]

TOO_SLOW = "re-ranking reads all scores several times, too many for a cross-encoder; leave it out, or --rerank."


@dataclass(frozen=True)
class Adopted:
    """The contents of a checkpoint: the weights to keep, by name, and the settings that it decides (sizes, say)."""

    arrays: Arrays
    settings: Settings = field(default_factory=dict)


@dataclass(frozen=True)
class StoredAnnotator:
    """What is kept of an annotator: its name, the values of its options, its weights by name; none before a training.

    ``ledger``: where the requests to a chat model are kept.
    """

    name: str
    options: Settings
    arrays: Arrays = field(default_factory=dict)
    ledger: Ledger | None = None


class OpenAnnotator:
    """An annotator with its weights loaded."""

    looks_at_pictures = True

    def scores(
        self, images: Images, captions: Captions, *, cache: Cache | None = None, progress: Progress = silent
    ) -> "Blocks":
        """Return the scores of N images (rows) and M captions (columns), for re-ranking and validation.

        Raises CounterpartError for missing pictures, and for annotators without such scores; ValueError for
        embeddings that cannot be searched.
        """
        self.check_pictures(images)
        return self._scores(images, captions, cache, progress)

    def _scores(self, images: Images, captions: Captions, cache: Cache | None, progress: Progress) -> "Blocks":
        raise CounterpartError("it has ranked lists and no scores, which re-ranking needs; leave it out, or --rerank.")

    def check_pictures(self, images: Images) -> None:
        """Raise CounterpartError where it looks at pictures and some are missing, or behind URLs."""
        if not self.looks_at_pictures:
            return
        if urls := [image.key for image in images if image.file.startswith(("http://", "https://"))]:
            raise CounterpartError(
                f"{len(urls)} of {len(images)} pictures are behind URLs, which are fetched for found images alone:"
                f" {some_of(urls)}. Import embeddings (import_embeddings), or copy the pictures to the storage."
            )
        if without := [image.key for image in images if not image.file]:
            raise CounterpartError(
                f"{len(without)} of {len(images)} images have no picture file: {some_of(without)}."
                " Import the collection again with --images, or use an annotator that only reads captions (overlap)."
            )


class EmbeddingAnnotator(OpenAnnotator, ABC):
    """Scores a pair by the inner product of two embeddings, each computed alone.

    An item may have K embeddings: the score of a pair is then the largest of its K x K inner products.
    """

    @abstractmethod
    def encode_images(self, images: Images) -> Embeddings:
        """Return one row an image, (N, D) or (N, K, D)."""

    @abstractmethod
    def encode_captions(self, captions: Captions) -> Embeddings:
        """Return one row a caption, (M, D) or (M, K, D)."""

    def encode(
        self, images: Images, captions: Captions, *, cache: Cache | None = None, progress: Progress = silent
    ) -> tuple[Embeddings, Embeddings]:
        """Return the embeddings of both sides, from ``cache`` where they are there, computed and kept there if not."""
        return (
            encode_rows(self.encode_images, images, cache, "reading images", progress),
            encode_rows(self.encode_captions, captions, cache, "reading captions", progress),
        )

    def comparison(self, images: Embeddings, captions: Embeddings) -> Compare | None:
        """Return the function that scores n images with m captions, (n, m); None for plain inner products.

        Raises ValueError where one side has several embeddings an item and the other has one.
        """
        if images.ndim != captions.ndim:
            raise ValueError(f"Images have embeddings of shape {images.shape} and captions of {captions.shape}.")
        if images.ndim == 2:
            return None
        from counterpart_topk import best_products

        return best_products

    def _scores(self, images: Images, captions: Captions, cache: Cache | None, progress: Progress) -> "Blocks":
        # Loading its compiled code takes a second, which only a search should cost.
        from counterpart_topk.hubness.score_blocks import Computed, Products

        rows, columns = self.encode(images, captions, cache=cache, progress=progress)
        compare = self.comparison(rows, columns)
        if compare is not None:
            return Computed((len(rows), len(columns)), lambda r, c: compare(rows[r], columns[c]))
        from counterpart_topk.sides import open_side

        return Products(open_side(rows, "images").values, open_side(columns, "captions").values)


class ComparingAnnotator(EmbeddingAnnotator):
    """Scores a pair by its two embeddings, but not by an inner product."""

    @abstractmethod
    def compare(self, images: Embeddings, captions: Embeddings) -> NDArray[np.float32]:
        """Score n images with m captions, given as the rows that ``encode_`` returned for them: (n, m)."""

    def comparison(self, images: Embeddings, captions: Embeddings) -> Compare:
        return self.compare


class PairScores(Protocol):
    """The scores of one gallery, computed on demand."""

    def block(self, images: Places, captions: Places) -> NDArray[np.float32]:
        """Score n images with m captions, given by their places in the gallery: (n, m)."""


class PairScorer(OpenAnnotator, ABC):
    """Scores pairs from both sides at once, so cheaply that all scores can be computed."""

    @abstractmethod
    def over(self, images: Images, captions: Captions) -> PairScores:
        """Prepare to score any pair of a gallery of N images and M captions."""

    def _scores(self, images: Images, captions: Captions, cache: Cache | None, progress: Progress) -> "Blocks":
        from counterpart_topk.hubness.score_blocks import Computed

        scores = self.over(images, captions)
        rows = np.arange(len(images))
        columns = np.arange(len(captions))
        return Computed((len(images), len(captions)), lambda r, c: scores.block(rows[r], columns[c]))


class Pace(NamedTuple):
    """How fast pairs are scored, measured on how many batches, and what a pair costs in money, if anything."""

    pairs_a_second: float
    batches: int
    price: Decimal | None = None


class JointScores:
    """The scores of single pairs of one gallery: a base class."""

    def pairs(self, images: Places, captions: Places) -> NDArray[np.float32]:
        """Score n pairs, given by their places in the gallery: image i with caption i, (n,).

        Whichever side asks, all pairs of an image come together: ``images`` rises within a batch and over the
        batches of a search, and for one image ``captions`` rises. Keeping the last image is enough to read each once.
        """
        raise NotImplementedError

    def pace(self) -> Pace | None:
        """Return the pace and price of the pairs scored before, if these are recorded; None to have it measured."""
        return None


class CrossEncoder(OpenAnnotator, ABC):
    """Passes the picture and the words of a pair through a network together, so every single pair costs.

    ``batch_size`` is the number of pairs in one pass, and the most that are asked at once.
    """

    batch_size: int

    @abstractmethod
    def ready(self, images: Images, captions: Captions) -> JointScores:
        """Prepare to score pairs of a gallery of N images and M captions."""

    def _scores(self, images: Images, captions: Captions, cache: Cache | None, progress: Progress) -> "Blocks":
        raise CounterpartError(TOO_SLOW)


class ListAnnotator(OpenAnnotator, ABC):
    """Has finished lists; nothing is searched."""

    @abstractmethod
    def lists_of(
        self, direction: str, queries: Sequence[PlainImage | PlainCaption], items: Sequence[PlainImage | PlainCaption]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return places in ``items``, best first, and scores, both (Q, k); shorter lists end in -1 and -inf."""
