"""What every annotator is: something that ranks a gallery for its queries.

A kind of annotator is a module: one of this package, or one that an installed package names as an entry point
``counterpart.annotators``. It declares, where they apply, ``OPTIONS``, its settings by name (``mitl.options``);
``CHECKPOINT`` (``required``, ``optional``, or ``none``, the default); ``LOSSES``, the default first; ``CROSS_ENCODER =
True``; and ``PREPROCESSING`` (``mitl.annotators.Kind``). It defines

- ``open_annotator(annotator, device)``, which loads it on ``cpu`` or ``cuda`` and returns an ``OpenAnnotator``;

and, where they apply,

- ``adopt(path, settings)``, which reads a checkpoint and returns it as ``Adopted``;
- ``train(examples, plan, progress)`` (``mitl.training.learners``);
- ``architecture(settings, arrays)``, which describes the network for its page: a text by name.

Commands and pages read what a kind declares. Where its work needs torch or another large package, the kind is a folder:
``__init__`` tells of it and declares, with ``LEARNS = True`` if it can be trained; ``annotator`` defines the functions.

An ``OpenAnnotator`` implements ``topk``. Four base classes implement it from something simpler: embeddings
(``EmbeddingAnnotator``), scores in blocks (``PairScorer``), scores of single pairs (``CrossEncoder``) and finished
lists (``ListAnnotator``).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError, some_of
from core.files import StoredFile, read_arrays
from core.progress import Progress, silent
from core.text import counted, is_url
from corpus.models import Caption, Image
from mitl.checkpoints import Checkpoints
from mitl.hubness.score_blocks import Blocks, Computed, Products
from mitl.models import Annotator, Direction
from mitl.options import Settings
from mitl.search.embeddings import (
    EmbeddingCache,
    Embeddings,
    encode_rows,
    refuse_faiss,
    topk_of_blocks,
    topk_of_embeddings,
)
from mitl.search.gallery import BothFound, BothLists, Gallery, Places
from mitl.search.pair_scores import JointScores, Pace, Scoring, pairs_to_score, rank

__all__ = [
    "Adopted",
    "Arrays",
    "ComparingAnnotator",
    "CrossEncoder",
    "EmbeddingAnnotator",
    "Embeddings",
    "JointScores",
    "ListAnnotator",
    "OpenAnnotator",
    "Pace",
    "PairScorer",
    "PairScores",
    "SearchContext",
    "stored_arrays",
]

Arrays = dict[str, NDArray]
Images = Sequence[Image]
Captions = Sequence[Caption]
Compare = Callable[[Embeddings, Embeddings], NDArray]

TOO_SLOW = "re-ranking reads all scores several times, too many for a cross-encoder; leave it out, or --rerank."


@dataclass(frozen=True)
class Adopted:
    """The contents of a checkpoint: the weights to keep, by name, and the settings that it decides (sizes, say)."""

    arrays: Arrays
    settings: Settings = field(default_factory=dict)


@dataclass(frozen=True)
class SearchContext:
    """How a search is run. Nothing of this changes what is found, except ``first``.

    ``kept`` holds finished parts of the same search, if it was interrupted; ``cache`` the embeddings computed before.
    ``first`` are the lists of a cascade, whose pairs a cross-encoder scores instead of all. ``confirm`` is called
    before a cross-encoder starts, and stops it by raising.
    """

    kept: Checkpoints
    engine: str = "blocked"
    device: str = "cpu"
    cache: EmbeddingCache | None = None
    first: BothLists | None = None
    confirm: Callable[[Scoring], None] | None = None
    progress: Progress = silent


class OpenAnnotator(ABC):
    """An annotator with its weights loaded."""

    looks_at_pictures = True

    @abstractmethod
    def topk(self, gallery: Gallery, k: int, context: SearchContext) -> BothFound:
        """Return every query's ``k`` best items: by direction, places in the gallery and scores, (queries, k).

        Raises CounterpartError where the gallery or the engine is unsuitable, or its lists are too short; ValueError
        where its embeddings or scores are not finite numbers.
        """

    def scores(
        self, images: Images, captions: Captions, *, cache: EmbeddingCache | None = None, progress: Progress = silent
    ) -> Blocks:
        """Return the scores of N images (rows) and M captions (columns), for re-ranking and validation.

        Raises CounterpartError for missing pictures, and for annotators without such scores; ValueError for
        embeddings that cannot be searched.
        """
        self.check_pictures(images)
        return self._scores(images, captions, cache, progress)

    def _scores(self, images: Images, captions: Captions, cache: EmbeddingCache | None, progress: Progress) -> Blocks:
        raise CounterpartError("it has ranked lists and no scores, which re-ranking needs; leave it out, or --rerank.")

    def check_pictures(self, images: Images) -> None:
        """Raise CounterpartError where it looks at pictures and some are missing, or behind URLs."""
        if not self.looks_at_pictures:
            return
        if urls := [image.key for image in images if is_url(image.file)]:
            raise CounterpartError(
                f"{len(urls)} of {len(images)} pictures are behind URLs, which are fetched for found images alone:"
                f" {some_of(urls)}. Import embeddings (import_embeddings), or copy the pictures to the storage."
            )
        if without := [image.key for image in images if not image.file]:
            raise CounterpartError(
                f"{len(without)} of {len(images)} images lack a picture file: {some_of(without)}."
                " Import the collection again with --images, or use an annotator that only reads captions (overlap)."
            )


class EmbeddingAnnotator(OpenAnnotator):
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
        self, images: Images, captions: Captions, *, cache: EmbeddingCache | None = None, progress: Progress = silent
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
        from mitl.topk import best_products

        return best_products

    def topk(self, gallery: Gallery, k: int, context: SearchContext) -> BothFound:
        images, captions = self.encode(gallery.images, gallery.captions, cache=context.cache, progress=context.progress)
        if images.ndim == 3:
            refuse_faiss(context.engine, "FAISS compares by one inner product and this annotator does not")
        return topk_of_embeddings(
            images,
            captions,
            gallery,
            k,
            engine=context.engine,
            device=context.device,
            kept=context.kept,
            progress=context.progress,
        )

    def _scores(self, images: Images, captions: Captions, cache: EmbeddingCache | None, progress: Progress) -> Blocks:
        rows, columns = self.encode(images, captions, cache=cache, progress=progress)
        compare = self.comparison(rows, columns)
        if compare is not None:
            return Computed((len(rows), len(columns)), lambda r, c: compare(rows[r], columns[c]))
        # Loading its compiled code takes a second, which only a search should cost.
        from mitl.topk.sides import open_side

        return Products(open_side(rows, "images").values, open_side(columns, "captions").values)


class ComparingAnnotator(EmbeddingAnnotator):
    """Scores a pair by its two embeddings, but not by an inner product."""

    @abstractmethod
    def compare(self, images: Embeddings, captions: Embeddings) -> NDArray[np.float32]:
        """Score n images with m captions, given as the rows that ``encode_`` returned for them: (n, m)."""

    def comparison(self, images: Embeddings, captions: Embeddings) -> Compare:
        return self.compare

    def topk(self, gallery: Gallery, k: int, context: SearchContext) -> BothFound:
        refuse_faiss(context.engine, "FAISS compares by one inner product and this annotator does not")
        images, captions = self.encode(gallery.images, gallery.captions, cache=context.cache, progress=context.progress)
        return topk_of_blocks(lambda i, c: self.compare(images[i], captions[c]), gallery, k, progress=context.progress)


class PairScores(Protocol):
    """The scores of one gallery, computed on demand."""

    def block(self, images: Places, captions: Places) -> NDArray[np.float32]:
        """Score n images with m captions, given by their places in the gallery: (n, m)."""


class PairScorer(OpenAnnotator):
    """Scores pairs from both sides at once, so cheaply that all scores can be computed."""

    @abstractmethod
    def over(self, images: Images, captions: Captions) -> PairScores:
        """Prepare to score any pair of a gallery of N images and M captions."""

    def topk(self, gallery: Gallery, k: int, context: SearchContext) -> BothFound:
        refuse_faiss(context.engine)
        return topk_of_blocks(self.over(gallery.images, gallery.captions).block, gallery, k, progress=context.progress)

    def _scores(self, images: Images, captions: Captions, cache: EmbeddingCache | None, progress: Progress) -> Blocks:
        scores = self.over(images, captions)
        rows, columns = np.arange(len(images)), np.arange(len(captions))
        return Computed((len(images), len(captions)), lambda r, c: scores.block(rows[r], columns[c]))


class CrossEncoder(OpenAnnotator):
    """Passes the picture and the words of a pair through a network together, so every single pair costs.

    ``batch_size`` is the number of pairs in one pass, and the most that are asked at once.
    """

    batch_size: int

    @abstractmethod
    def ready(self, images: Images, captions: Captions) -> JointScores:
        """Prepare to score pairs of a gallery of N images and M captions."""

    def scoring(self, gallery: Gallery, context: SearchContext) -> Scoring:
        """Return the pairs that a search scores, prepared. Raises CounterpartError as ``topk`` does."""
        self.check_pictures(gallery.images)
        pairs = pairs_to_score(gallery, context.first)
        refuse_faiss(context.engine)
        return Scoring(gallery, self.ready(gallery.images, gallery.captions), pairs, self.batch_size, context.kept)

    def topk(self, gallery: Gallery, k: int, context: SearchContext) -> BothFound:
        scoring = self.scoring(gallery, context)
        if context.confirm:
            context.confirm(scoring)
        return rank(scoring, context.first, k, progress=context.progress)

    def _scores(self, images: Images, captions: Captions, cache: EmbeddingCache | None, progress: Progress) -> Blocks:
        raise CounterpartError(TOO_SLOW)


class ListAnnotator(OpenAnnotator):
    """Has finished lists; nothing is searched."""

    @abstractmethod
    def lists_of(
        self, direction: Direction, queries: Sequence[Image | Caption], items: Sequence[Image | Caption]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return places in ``items``, best first, and scores, both (Q, k); shorter lists end in -1 and -inf."""

    def topk(self, gallery: Gallery, k: int, context: SearchContext) -> BothFound:
        refuse_faiss(context.engine)
        found = {}
        for direction in gallery.directions:
            from_images = direction == Direction.IMAGE_TO_CAPTION
            asking: Sequence[Image | Caption] = gallery.images if from_images else gallery.captions
            items: Sequence[Image | Caption] = gallery.captions if from_images else gallery.images
            places, scores = self.lists_of(direction, [asking[place] for place in gallery.asks(direction)], items)
            if places.shape[1] < k:
                raise CounterpartError(
                    f"The longest {direction.value} list has {counted(places.shape[1], 'place')}, fewer than the {k} "
                    f"asked for; pass --depth {places.shape[1]} (or --cascade-depth), or add the annotator with "
                    "longer lists."
                )
            found[direction] = places[:, :k], scores[:, :k]
        return found


def stored_arrays(annotator: Annotator) -> Arrays:
    """Return the stored weights of an annotator. Raises CounterpartError if it has none yet."""
    if not annotator.checkpoint:
        raise CounterpartError(
            f"it is not trained yet; run: manage.py train_annotator {annotator.name} --collection NAME"
        )
    return read_arrays(StoredFile(annotator.checkpoint, annotator.checksum))
