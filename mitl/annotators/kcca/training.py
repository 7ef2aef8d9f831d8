"""Train KCCA: factorise both kernels over the training images, and correlate the factors."""

from typing import NamedTuple

import numpy as np

from core.errors import CounterpartError
from core.progress import Progress
from mitl.annotators.base import Arrays, Settings
from mitl.annotators.classical.reading import PictureReader, Signatures, captions_by_image, learn_picture_words
from mitl.annotators.kcca.choosing import choose
from mitl.annotators.kcca.machine import PIVOTS, Spaces
from mitl.classical.correlation import Factor, Matrix, correlate, factorise
from mitl.classical.documents import Documents
from mitl.classical.texts import Text, learn_text
from mitl.classical.visual_words import intersections
from mitl.training.learners import Plan, Trained, TrainingSet

REGULARISATIONS = (0.1, 0.5, 1.0, 5.0)


class Sides(NamedTuple):
    """Training images and their captions, a row and a document an image."""

    signatures: Signatures
    documents: Documents


def trained(examples: TrainingSet, plan: Plan, progress: Progress) -> Trained:
    """Return what ``Spaces`` reads. Raises CounterpartError as ``mitl.annotators.kcca.train`` tells.

    Memory: 16 bytes x images x rank, and 4 bytes a number of every picture's histograms.
    """
    models = int(plan.settings["models"])
    if models > 1 and not examples.validation:
        raise CounterpartError(
            f"models={models} chooses settings on a validation split and this training has none; pass --validation"
            " held-out, import images of the split val, or add the annotator with models=1."
        )
    arrays, sides = _learn_sides(examples, plan, progress)
    factors = _image_factor(sides, plan.settings, progress), _text_factor(sides, plan.settings, arrays, progress)
    arrays |= _pivots(sides, *factors)
    kappas = REGULARISATIONS if models > 1 else (float(plan.settings["regularisation"]),)
    arrays |= _correlated(factors[0].features, factors[1].features, kappas)
    if models > 1 and examples.validation:
        arrays |= choose(Spaces(plan.settings, arrays), examples.validation, models, arrays["correlations"].shape[1])
    return Trained(arrays, {"correlation": round(float(arrays["correlations"][0, 0]), 4)})


def _learn_sides(examples: TrainingSet, plan: Plan, progress: Progress) -> tuple[Arrays, Sides]:
    """Learn visual words and the text kernel; read all images whose captions have a word that counts."""
    kind, texts = str(plan.settings["text"]), captions_by_image(examples)
    arrays = learn_text(kind, texts, str(plan.settings["idf"]))
    text = Text(kind, arrays)
    documents = text.documents(texts)
    telling = np.flatnonzero(text.telling(documents))
    arrays |= learn_picture_words(examples.images, plan.settings, plan.seed, progress)
    images = [examples.images[place] for place in telling]
    if len(images) < 2:
        raise CounterpartError(
            f"{len(images)} of {len(examples.images)} training images have captions with a word that tells them from"
            " others, and nothing correlates over fewer than 2. Train on more images, or add it with idf=none."
        )
    return arrays, Sides(PictureReader(plan.settings, arrays).read(images, progress), documents.pick(telling))


def _image_factor(sides: Sides, settings: Settings, progress: Progress) -> Factor:
    signatures, power = sides.signatures, int(settings["power"])

    def column(pivot: int) -> Matrix:
        likeness: Matrix = intersections(signatures, signatures[[pivot]])[:, 0].astype(np.float64)
        return likeness**power

    return factorise(column, len(signatures), int(settings["rank"]), step="image kernel", progress=progress)


def _text_factor(sides: Sides, settings: Settings, arrays: Arrays, progress: Progress) -> Factor:
    kernel = Text(str(settings["text"]), arrays).kernel
    read = kernel.read(sides.documents)

    def column(pivot: int) -> Matrix:
        return kernel.compare(read, kernel.read(sides.documents.pick([pivot])))[:, 0]

    return factorise(column, len(sides.documents), int(settings["rank"]), step="text kernel", progress=progress)


def _pivots(sides: Sides, images: Factor, texts: Factor) -> Arrays:
    """Return the items that further ones are compared with, and the factors' rows of them."""
    return {
        "pivot_signatures": sides.signatures[images.pivots],
        **sides.documents.pick(texts.pivots).to_arrays(PIVOTS),
        "image_triangle": images.triangle,
        "text_triangle": texts.triangle,
    }


def _correlated(images: Matrix, texts: Matrix, kappas: tuple[float, ...]) -> Arrays:
    """Return both sides' directions by every kappa, (kappas, r or s, dim), and the correlations, (kappas, dim)."""
    found = [correlate(images, texts, kappa) for kappa in kappas]
    return {
        "image_mean": found[0][0].mean,
        "text_mean": found[0][1].mean,
        "image_directions": np.stack([image.directions for image, _, _ in found]),
        "text_directions": np.stack([text.directions for _, text, _ in found]),
        "correlations": np.stack([correlations for _, _, correlations in found]),
    }
