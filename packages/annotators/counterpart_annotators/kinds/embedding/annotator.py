"""The learned embedding: fixed features, a regression, and the file that holds its weights."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from counterpart_annotators.bags import bags, inverse_frequencies, unit_rows, vocabulary
from counterpart_annotators.base import Adopted, Arrays, EmbeddingAnnotator, StoredAnnotator
from counterpart_annotators.encoding import Embeddings
from counterpart_annotators.kinds.embedding.patches import (
    CHUNK,
    HEIGHT,
    PICTURE_FEATURES,
    WIDTH,
    Pictures,
    read_pictures,
)
from counterpart_annotators.options import Settings
from counterpart_annotators.plain import PlainCaption, PlainImage
from counterpart_annotators.progress import Progress
from counterpart_annotators.training.learners import Trained, TrainingPlan, TrainingSet
from counterpart_annotators.training.loop import repeatable
from counterpart_annotators.training.recall import measure
from counterpart_metrics.array_lists import read_foreign_arrays
from counterpart_metrics.errors import CounterpartError, counted, some_of

Floats = NDArray[np.float32]

LONGEST_PHRASE = {"words": 1, "phrases": 2}
WEIGHTS = ("image_mean", "image_scale", "image_map", "image_bias", "words", "word_weights", "text_map")
RIDGE = 0.3


class LearnedEmbedding(EmbeddingAnnotator):
    """Embeds with trained weights."""

    def __init__(self, options: Mapping[str, object], arrays: Arrays) -> None:
        self._pictures = str(options["image"])
        self._longest = LONGEST_PHRASE[str(options["text"])]
        self._arrays = arrays
        self._places = {str(word): place for place, word in enumerate(arrays["words"])}

    def encode_images(self, images: Sequence[PlainImage]) -> Embeddings:
        """Return unit rows (N, dim). Raises CounterpartError for an image without a readable picture."""
        return self.embed_pictures(read_pictures(images))

    def encode_captions(self, captions: Sequence[PlainCaption]) -> Embeddings:
        """Return unit rows (M, dim); zeros for a caption without known words."""
        return self.embed_texts([caption.text for caption in captions])

    def embed_pictures(self, pictures: Pictures) -> Embeddings:
        """Embed pictures from ``read_pictures``."""
        features = PICTURE_FEATURES[self._pictures].of(pictures, self._arrays)
        standard = (features - self._arrays["image_mean"]) / self._arrays["image_scale"]
        return _unit(standard @ self._arrays["image_map"] + self._arrays["image_bias"])

    def embed_texts(self, texts: Sequence[str]) -> Embeddings:
        """Embed sentences."""
        counts = bags(texts, self._places, self._longest)
        counts.data *= self._arrays["word_weights"][counts.indices]
        return _unit(unit_rows(counts) @ self._arrays["text_map"])


def open_annotator(stored: StoredAnnotator, device: str) -> LearnedEmbedding:
    """Load the annotator."""
    return LearnedEmbedding(stored.options, stored.arrays)


def adopt(path: Path, settings: Settings) -> Adopted:
    """Read weights that were trained elsewhere with the same options. Raises CounterpartError if they do not fit."""
    try:
        arrays = read_foreign_arrays(path)
        _check_weights(settings, arrays)
    except (OSError, ValueError, KeyError, TypeError, EOFError, AttributeError, BadZipFile) as error:
        raise CounterpartError(f"{path} does not hold the weights of this embedding: {error}.") from error
    return Adopted(arrays)


def train(examples: TrainingSet, plan: TrainingPlan, progress: Progress) -> Trained:
    """Solve for both maps, and measure them on the validation split: on the CPU, whatever the device.

    The same arguments give the same weights on the same computer. Raises CounterpartError for missing pictures, or
    captions without words.
    """
    with repeatable(plan.seed):
        features, image_side = _read_images(examples, plan, progress)
        weighted, text_side = _read_captions(examples, LONGEST_PHRASE[str(plan.settings["text"])])
        shape = (len(examples.images), len(examples.captions))
        known = sparse.csr_array((examples.weights, examples.pairs.T), shape=shape)
        image_map, bias, text_map = _regression(features, weighted, known, int(plan.settings["dim"]))
    maps = {"image_map": image_map, "image_bias": bias, "text_map": text_map}
    arrays = image_side | text_side | maps
    split = examples.validation
    return Trained(arrays, {**measure(LearnedEmbedding(plan.settings, arrays), split, progress)} if split else {})


def _read_images(examples: TrainingSet, plan: TrainingPlan, progress: Progress) -> tuple[Floats, Arrays]:
    """Return standardised features (views, N, F) of each picture and, if its features allow it, of its mirror image."""
    extractor = PICTURE_FEATURES[str(plan.settings["image"])]
    pictures = _pictures(examples, progress)
    learned = extractor.learn(pictures, plan.seed)
    views = [pictures, pictures[:, :, ::-1]] if extractor.mirrors else [pictures]
    features = np.stack([extractor.of(np.ascontiguousarray(view), learned) for view in views])
    mean = features.mean((0, 1))
    spread = features.std((0, 1))
    scale = spread + 1e-3 * spread.mean() + 1e-6
    return (features - mean) / scale, learned | {"image_mean": mean, "image_scale": scale}


def _pictures(examples: TrainingSet, progress: Progress) -> Pictures:
    without = [image.key for image in examples.images if not image.file]
    if without:
        raise CounterpartError(
            f"{len(without)} of {len(examples.images)} training images have no picture file: {some_of(without)}."
            " Import the collection again with --images."
        )
    parts = []
    for start in range(0, len(examples.images), CHUNK):
        parts.append(read_pictures(examples.images[start : start + CHUNK]))
        progress("reading pictures", start + len(parts[-1]), len(examples.images))
    return np.concatenate(parts)


def _read_captions(examples: TrainingSet, longest: int) -> tuple[sparse.csr_array, Arrays]:
    """Return weighted bags (M, V). Learn phrases that occur in two captions, or in one if there are none."""
    texts = [caption.text for caption in examples.captions]
    places = vocabulary(texts, longest, 2) or vocabulary(texts, longest)
    if len(places) < 2:
        raise CounterpartError(
            f"The {counted(len(texts), 'caption contains', 'captions contain')} "
            f"{counted(len(places), 'different word')}; at least 2 are needed."
        )
    counts = bags(texts, places, longest)
    weights = inverse_frequencies(counts)
    counts.data *= weights[counts.indices]
    return unit_rows(counts), {"words": np.array(list(places)), "word_weights": weights}


def _regression(
    features: Floats, texts: sparse.csr_array, known: sparse.csr_array, dim: int
) -> tuple[Floats, Floats, Floats]:
    """Return the image map (F, d), its bias (d,), and the text map (V, d); d is smaller for very few captions."""
    text_map = _main_directions(texts, min(dim, min(texts.shape) - 1))
    mean_weights = (sparse.diags_array(1 / known.sum(axis=1)) @ known).tocsr()
    wanted = mean_weights @ (texts @ text_map)
    bias = wanted.mean(0)
    views, _, width = features.shape
    image_map = _ridge(features.reshape(-1, width), np.tile(wanted - bias, (views, 1)))
    return image_map, bias.astype(np.float32), text_map


def _ridge(features: Floats, wanted: Floats) -> Floats:
    """Return the ridge regression (F, d) of ``wanted`` on the features, solved on the smaller side."""
    rows, width = features.shape
    penalty = np.float32(RIDGE * width)
    if rows < width:
        kernel = features @ features.T + penalty * np.eye(rows, dtype=np.float32)
        solved = features.T @ linalg.solve(kernel, wanted, assume_a="pos")
    else:
        gram = features.T @ features + penalty * np.eye(width, dtype=np.float32)
        solved = linalg.solve(gram, features.T @ wanted, assume_a="pos")
    return np.ascontiguousarray(solved, dtype=np.float32)


def _main_directions(texts: sparse.csr_array, k: int) -> Floats:
    """Return the ``k`` largest right singular vectors, (V, k)."""
    width = texts.shape[1]
    squared = sparse.linalg.LinearOperator((width, width), matvec=lambda v: texts.T @ (texts @ v), dtype=np.float32)
    start = np.random.default_rng(0).normal(size=width).astype(np.float32)
    return np.ascontiguousarray(sparse.linalg.eigsh(squared, k=k, v0=start, rng=np.random.default_rng(0))[1])


def _check_weights(options: Mapping[str, object], arrays: Arrays) -> None:
    """Raise ValueError or KeyError unless the weights are complete, finite, and fit the options."""
    missing = [name for name in WEIGHTS if name not in arrays]
    if missing:
        raise ValueError(f"it does not contain {', '.join(missing)}")
    broken = [name for name, array in arrays.items() if array.dtype.kind == "f" and not np.isfinite(array).all()]
    if broken:
        raise ValueError(f"{', '.join(broken)} hold NaN or infinity")
    embedding = LearnedEmbedding(options, arrays)
    blank = np.zeros((1, HEIGHT, WIDTH, 3), dtype=np.uint8)
    if embedding.embed_pictures(blank).shape != embedding.embed_texts(["a"]).shape:
        raise ValueError("images and texts are embedded in different dimensions")


def _unit(rows: Embeddings) -> Embeddings:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
