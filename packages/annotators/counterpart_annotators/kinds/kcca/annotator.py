"""KCCA: training both kernels and their projections, and searching with one or several of them."""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from counterpart_annotators.base import Arrays, EmbeddingAnnotator, ListAnnotator, StoredAnnotator
from counterpart_annotators.classical.documents import Documents
from counterpart_annotators.classical.texts import Text, learn_text
from counterpart_annotators.classical.visual_words import Signatures, intersections
from counterpart_annotators.encoding import Embeddings
from counterpart_annotators.kinds.kcca.canonical_correlation import (
    Factor,
    Matrix,
    Projection,
    borda,
    correlate,
    factorise,
    features_of,
)
from counterpart_annotators.kinds.nn.annotator import (
    MOST_PLACES,
    PictureReader,
    adopt,
    captions_by_image,
    learn_picture_words,
)
from counterpart_annotators.options import Settings
from counterpart_annotators.plain import TO_CAPTIONS, TO_IMAGES, PlainCaption, PlainImage
from counterpart_annotators.progress import Progress
from counterpart_annotators.training.learners import Trained, TrainingPlan, TrainingSet
from counterpart_metrics.errors import CounterpartError

PIVOTS = "pivot"  # the captions that others are compared with
REGULARISATIONS = (0.1, 0.5, 1.0, 5.0)
FEWEST_DIMENSIONS = 10
N_DIMENSIONS = 46
DEPTHS = (1, 5, 10)
SIDES = ("image", "text")

__all__ = ["CorrelatedSpace", "FusedSpaces", "adopt", "architecture", "open_annotator", "train"]


class Spaces:
    """The features of both kernels, and their projections for each trained regularisation."""

    def __init__(self, settings: Settings, arrays: Arrays) -> None:
        """``arrays`` are those of ``train``."""
        self._pictures = PictureReader(settings, arrays)
        self._text = Text(str(settings["text"]), arrays)
        self._power = int(settings["power"])
        self._arrays = arrays
        self._pivots = self._text.kernel.read(Documents.from_arrays(arrays, PIVOTS))

    @property
    def n_regularisations(self) -> int:
        """The number of trained regularisations."""
        return len(self._arrays["image_directions"])

    def features(self, side: str, items: Sequence[PlainImage | PlainCaption]) -> NDArray[np.float64]:
        """Return the rows of the factor of a side's kernel, ``image`` or ``text``, (N, r).

        Raises CounterpartError for unreadable pictures.
        """
        if side == "image":
            read = self._pictures.read(cast(Sequence[PlainImage], items))
            similarity = intersections(read, self._arrays["pivot_signatures"]).astype(np.float64) ** self._power
        else:
            documents = self._text.documents([caption.text] for caption in cast(Sequence[PlainCaption], items))
            similarity = self._text.kernel.compare(self._text.kernel.read(documents), self._pivots)
        return features_of(similarity, self._arrays[f"{side}_triangle"])

    def projection(self, side: str, regularisation: int, dim: int) -> Projection:
        """Return the projection of a side, ``image`` or ``text``, for the regularisation of that number."""
        directions = self._arrays[f"{side}_directions"][regularisation, :, :dim]
        return Projection(self._arrays[f"{side}_mean"], directions)


class CorrelatedSpace(EmbeddingAnnotator):
    """One setting (section 3.2.2): unit rows, so that inner products are cosines."""

    def __init__(self, settings: Settings, arrays: Arrays) -> None:
        self._spaces = Spaces(settings, arrays)
        self._dim = int(settings["dim"])

    def encode_images(self, images: Sequence[PlainImage]) -> Embeddings:
        """Return (N, dim), or fewer columns if the kernels have fewer. Raises CounterpartError for unreadable
        pictures."""
        return self._spaces.projection("image", 0, self._dim).of(self._spaces.features("image", images))

    def encode_captions(self, captions: Sequence[PlainCaption]) -> Embeddings:
        """Return (M, dim), as wide as the images'."""
        return self._spaces.projection("text", 0, self._dim).of(self._spaces.features("text", captions))


class FusedSpaces(ListAnnotator):
    """Several settings; the score at place r, from 0, among N items is (N - r) / N."""

    def __init__(self, settings: Settings, arrays: Arrays) -> None:
        self._spaces = Spaces(settings, arrays)
        self._arrays = arrays

    def lists_of(
        self, direction: str, queries: Sequence[PlainImage | PlainCaption], items: Sequence[PlainImage | PlainCaption]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Rank at most 1,000 items per query. Memory: 4 bytes x settings x dimensions x items.

        Raises CounterpartError for an image without a readable picture.
        """
        sides = SIDES if direction == TO_CAPTIONS else SIDES[::-1]
        features = [self._spaces.features(side, one) for side, one in zip(sides, (queries, items), strict=True)]
        embedded = [
            [self._spaces.projection(side, *setting).of(part) for side, part in zip(sides, features, strict=True)]
            for setting in self._arrays[f"chosen_{direction}"].tolist()
        ]
        places = np.stack([_merged([(left[row], right) for left, right in embedded]) for row in range(len(queries))])
        scores = 1 - np.arange(places.shape[1], dtype=np.float32) / len(items)
        return places, np.broadcast_to(scores, places.shape)


def _merged(settings: list[tuple[Embeddings, Embeddings]]) -> NDArray[np.int64]:
    """Merge the rankings of one query by several settings, each given as the query's row and the items' rows."""
    rankings = [np.argsort(-(items @ query), kind="stable") for query, items in settings]
    return borda(np.stack(rankings))[:MOST_PLACES]


def open_annotator(stored: StoredAnnotator, device: str) -> CorrelatedSpace | FusedSpaces:
    """Load the annotator."""
    return (CorrelatedSpace if stored.options["models"] == 1 else FusedSpaces)(stored.options, stored.arrays)


class Sides(NamedTuple):
    """Training images and their captions, a row and a document per image."""

    signatures: Signatures
    documents: Documents


def train(examples: TrainingSet, plan: TrainingPlan, progress: Progress) -> Trained:
    """Factorise both kernels over the training images, and correlate the factors.

    Raises CounterpartError for fewer than two images whose captions have a word with a weight, missing pictures, and
    several models without a validation split to choose them on. Memory: 16 bytes x images x rank, and 4 bytes per
    number of every picture's histograms.
    """
    models = int(plan.settings["models"])
    if models > 1 and not examples.validation:
        raise CounterpartError(
            f"models={models} chooses settings on a validation split, which is missing; pass --validation held-out,"
            " import images of the split val, or add the annotator with models=1."
        )
    arrays, sides = _learn_sides(examples, plan, progress)
    factors = _image_factor(sides, plan.settings, progress), _text_factor(sides, plan.settings, arrays, progress)
    arrays |= _pivots(sides, *factors)
    kappas = REGULARISATIONS if models > 1 else (float(plan.settings["regularisation"]),)
    arrays |= _correlated(factors[0].features, factors[1].features, kappas)
    if models > 1 and examples.validation:
        arrays |= choose(Spaces(plan.settings, arrays), examples.validation, models, arrays["correlations"].shape[1])
    return Trained(arrays, {"correlation": round(float(arrays["correlations"][0, 0]), 4)})


def choose(spaces: Spaces, split: TrainingSet, models: int, most_dimensions: int) -> Arrays:
    """Return ``chosen_i2t`` and ``chosen_t2i``, (models, 2): the number of a regularisation, and a dimension.

    Per direction, the best settings by R@1, then as many others by R@5, then by R@10; of equal ones those with less
    regularisation, then with fewer dimensions. There are up to 46 dimensions from 10 to the most, evenly spaced in
    their logarithms.
    """
    features = [spaces.features("image", split.images), spaces.features("text", split.captions)]
    positive = np.zeros((len(split.images), len(split.captions)), dtype=bool)
    positive[split.pairs[:, 0], split.pairs[:, 1]] = True
    settings = list(product(range(spaces.n_regularisations), dimensions(most_dimensions)))
    recalls: dict[str, list[NDArray[np.float64]]] = {TO_CAPTIONS: [], TO_IMAGES: []}
    for setting in settings:
        images, captions = (
            spaces.projection(side, *setting).of(part) for side, part in zip(SIDES, features, strict=True)
        )
        scores = images @ captions.T
        recalls[TO_CAPTIONS].append(recalls_of(scores, positive))
        recalls[TO_IMAGES].append(recalls_of(scores.T, positive.T))
    return {
        f"chosen_{direction}": np.array([settings[place] for place in best_of(np.stack(found), models)])
        for direction, found in recalls.items()
    }


def dimensions(most: int) -> list[int]:
    """Return up to 46 dimensions from 10 to ``most``; only ``most`` if that is less than 10."""
    first = min(FEWEST_DIMENSIONS, most)
    return np.unique(np.geomspace(first, most, N_DIMENSIONS).round().astype(int)).tolist()


def recalls_of(scores: NDArray[np.float32], positive: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return R@1, R@5 and R@10 (3,) of the queries (rows) with a positive item; ties count against it."""
    asking = positive.any(axis=1)
    scores = scores[asking]
    positive = positive[asking]
    best = np.where(positive, scores, -np.inf).max(axis=1, keepdims=True)
    ahead = ((scores >= best) & ~positive).sum(axis=1)
    return np.array([(ahead < depth).mean() for depth in DEPTHS])


def best_of(recalls: NDArray[np.float64], models: int) -> list[int]:
    """Return the places of the best settings, ``recalls`` (settings, 3): a third of ``models`` by each column, none
    twice; fewer if there are fewer settings."""
    chosen: list[int] = []
    for column in recalls.T:
        order = [place for place in np.argsort(-column, kind="stable").tolist() if place not in chosen]
        chosen += order[: models // len(DEPTHS)]
    return chosen


def architecture(settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Describe the system for the annotator's page."""
    n_images, width = arrays["pivot_signatures"].shape
    n_words = len(arrays["words"])
    n_texts = len(arrays["text_triangle"])
    merged = f", {settings['models']} rankings merged by Borda counts" if settings["models"] != 1 else ""
    return {
        "picture kernel": f"{settings['image']} of {width:,} numbers, power {settings['power']}, {n_images:,} pivots",
        "text kernel": f"{settings['text']} over {n_words:,} stems, {n_texts:,} pivots",
        "embeddings": f"at most {arrays['image_directions'].shape[2]:,} dimensions, L2-normalised",
        "score": f"cosine{merged}",
    }


def _learn_sides(examples: TrainingSet, plan: TrainingPlan, progress: Progress) -> tuple[Arrays, Sides]:
    """Learn visual words and the text kernel; read all images whose captions have a word with a weight."""
    kind = str(plan.settings["text"])
    texts = captions_by_image(examples)
    chosen = {name: str(plan.settings[name]) for name in ("idf", "align", "company")}
    arrays = learn_text(kind, texts, **chosen)
    text = Text(kind, arrays)
    documents = text.documents(texts)
    weighted = np.flatnonzero(text.has_weight(documents))
    arrays |= learn_picture_words(examples.images, plan.settings, plan.seed, progress)
    images = [examples.images[place] for place in weighted]
    if len(images) < 2:
        raise CounterpartError(
            f"Only {len(images)} of {len(examples.images)} training images have captions with a word that others do not"
            " have; at least 2 are needed. Train on more images, or add the annotator with idf=none."
        )
    return arrays, Sides(PictureReader(plan.settings, arrays).read(images, progress), documents.pick(weighted))


def _image_factor(sides: Sides, settings: Settings, progress: Progress) -> Factor:
    signatures = sides.signatures
    power = int(settings["power"])

    def column(pivot: int) -> Matrix:
        similarity: Matrix = intersections(signatures, signatures[[pivot]])[:, 0].astype(np.float64)
        return similarity**power

    return factorise(column, len(signatures), int(settings["rank"]), step="image kernel", progress=progress)


def _text_factor(sides: Sides, settings: Settings, arrays: Arrays, progress: Progress) -> Factor:
    kernel = Text(str(settings["text"]), arrays).kernel
    read = kernel.read(sides.documents)

    def column(pivot: int) -> Matrix:
        return kernel.compare(read, kernel.read(sides.documents.pick([pivot])))[:, 0]

    return factorise(column, len(sides.documents), int(settings["rank"]), step="text kernel", progress=progress)


def _pivots(sides: Sides, images: Factor, texts: Factor) -> Arrays:
    """Return the items that others are compared with, and the factors' rows of them."""
    return {
        "pivot_signatures": sides.signatures[images.pivots],
        **sides.documents.pick(texts.pivots).to_arrays(PIVOTS),
        "image_triangle": images.triangle,
        "text_triangle": texts.triangle,
    }


def _correlated(images: Matrix, texts: Matrix, kappas: tuple[float, ...]) -> Arrays:
    """Return both sides' directions for every kappa, (kappas, r or s, dim), and the correlations, (kappas, dim)."""
    correlated = [correlate(images, texts, kappa) for kappa in kappas]
    return {
        "image_mean": correlated[0][0].mean,
        "text_mean": correlated[0][1].mean,
        "image_directions": np.stack([image.directions for image, _, _ in correlated]),
        "text_directions": np.stack([text.directions for _, text, _ in correlated]),
        "correlations": np.stack([correlations for _, _, correlations in correlated]),
    }
