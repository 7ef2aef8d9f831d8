"""Fit the two maps of the learned embedding: first by regression, then with a hinge loss.

Regression: captions' weighted bags are projected onto their ``dim`` largest singular directions (latent semantic
analysis), and a ridge regression predicts the mean projection of an image's captions from its picture. The hinge
loss then pulls both maps towards telling pairs apart.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import linalg, sparse
from torch import Tensor
from torch.nn import functional

from core.errors import CounterpartError, some_of
from core.progress import Progress, tracked
from mitl.annotators.base import Arrays
from mitl.annotators.embedding.pictures import CHUNK, PICTURE_FEATURES, Pictures, read_pictures
from mitl.losses import LOSSES
from mitl.training.learners import Epoch, TrainingSet
from mitl.training.loop import repeatable
from mitl.words import bags, inverse_frequencies, unit_rows, vocabulary

Floats = NDArray[np.float32]

RIDGE = 0.3
BATCH = 90
CAPTIONS_PER_BATCH = 5
LEARNING_RATE = 1e-4
DROPOUT = 0.6


@dataclass(frozen=True)
class Fitting:
    """How one embedding is trained: what pictures and captions are read as, sizes, the loss by name, the seed."""

    pictures: str
    longest_phrase: int
    dim: int
    epochs: int
    loss: str
    seed: int


@dataclass(frozen=True)
class _Examples:
    """Standardised features (views, N, F): a picture's own and, where they mean the same, its mirror image's;
    weighted bags of captions (M, V); the weights of the known pairs (N, M)."""

    features: Floats
    bags: sparse.csr_array
    known: sparse.csr_array


def fit(
    examples: TrainingSet, fitting: Fitting, report: Callable[[Epoch], None], progress: Progress
) -> tuple[Arrays, dict[str, object]]:
    """Return the weights of a LearnedEmbedding by name, and the mean loss a query in the first and last epoch.

    ``report`` is told of every epoch; none of them is validated. The same arguments give the same weights on the same
    machine. Raises CounterpartError for pictures that are not there, or captions without words.
    """
    with repeatable(fitting.seed):
        features, image_side = _read_images(examples, fitting, progress)
        weighted, text_side = _read_captions(examples, fitting)
        trained = _Examples(features, weighted, _known(examples))
        maps = [torch.from_numpy(start).requires_grad_() for start in _regression(trained, fitting.dim)]
        epochs = []
        for epoch in tracked(_epochs(trained, maps, fitting), "learning", progress, total=fitting.epochs, every=1):
            report(epoch)
            epochs.append(epoch)
    names = ("image_map", "image_bias", "text_map")
    weights = {name: tensor.detach().numpy() for name, tensor in zip(names, maps, strict=True)}
    return image_side | text_side | weights, _figures(epochs)


def _figures(epochs: list[Epoch]) -> dict[str, object]:
    return {"loss_first": epochs[0].loss, "loss_last": epochs[-1].loss} if epochs else {}


def _read_images(examples: TrainingSet, fitting: Fitting, progress: Progress) -> tuple[Floats, Arrays]:
    extractor = PICTURE_FEATURES[fitting.pictures]
    pictures = _pictures(examples, progress)
    learned = extractor.learn(pictures, fitting.seed)
    views = [pictures, pictures[:, :, ::-1]] if extractor.mirrors else [pictures]
    features = np.stack([extractor.of(np.ascontiguousarray(view), learned) for view in views])
    mean, spread = features.mean((0, 1)), features.std((0, 1))
    scale = spread + 1e-3 * spread.mean() + 1e-6
    return (features - mean) / scale, learned | {"image_mean": mean, "image_scale": scale}


def _pictures(examples: TrainingSet, progress: Progress) -> Pictures:
    without = [image.key for image in examples.images if not image.file]
    if without:
        raise CounterpartError(
            f"{len(without)} of {len(examples.images)} training images lack a picture file: {some_of(without)}."
            " Import the collection again with --images."
        )
    parts = []
    for start in range(0, len(examples.images), CHUNK):
        parts.append(read_pictures(examples.images[start : start + CHUNK]))
        progress("reading pictures", start + len(parts[-1]), len(examples.images))
    return np.concatenate(parts)


def _read_captions(examples: TrainingSet, fitting: Fitting) -> tuple[sparse.csr_array, Arrays]:
    """A phrase needs two captions to be learned from; where no phrase has two, one will do."""
    texts = [caption.text for caption in examples.captions]
    places = vocabulary(texts, fitting.longest_phrase, 2) or vocabulary(texts, fitting.longest_phrase)
    if len(places) < 2:
        raise CounterpartError(
            f"The {len(texts)} captions hold {len(places)} different words; there is nothing to learn."
        )
    counts = bags(texts, places, fitting.longest_phrase)
    weights = inverse_frequencies(counts)
    counts.data *= weights[counts.indices]
    return unit_rows(counts), {"words": np.array(list(places)), "word_weights": weights}


def _known(examples: TrainingSet) -> sparse.csr_array:
    """Return how much each pair counts, as a matrix."""
    return sparse.csr_array((examples.weights, examples.pairs.T), shape=(len(examples.images), len(examples.captions)))


def _regression(examples: _Examples, dim: int) -> tuple[Floats, Floats, Floats]:
    """Return the image map (F, d), its bias (d,), and the text map (V, d); d is smaller for very few captions."""
    texts = examples.bags
    text_map = _main_directions(texts, min(dim, min(texts.shape) - 1))
    wanted = _mean_weights(examples.known) @ (texts @ text_map)
    bias = wanted.mean(0)
    views, _, width = examples.features.shape
    image_map = _ridge(examples.features.reshape(-1, width), np.tile(wanted - bias, (views, 1)))
    return image_map, bias.astype(np.float32), text_map


def _ridge(features: Floats, wanted: Floats) -> Floats:
    """Return the map (F, d) that predicts ``wanted`` best with a penalty, solved on the smaller side."""
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
    """Return the ``k`` largest right singular vectors, (V, k), without the left ones, which nobody needs."""
    width = texts.shape[1]
    squared = sparse.linalg.LinearOperator((width, width), matvec=lambda v: texts.T @ (texts @ v), dtype=np.float32)
    start = np.random.default_rng(0).normal(size=width).astype(np.float32)
    return np.ascontiguousarray(sparse.linalg.eigsh(squared, k=k, v0=start, rng=np.random.default_rng(0))[1])


def _mean_weights(known: sparse.csr_array) -> sparse.csr_array:
    """Divide each row by its sum, so that a product with it takes means."""
    return (sparse.diags_array(1 / known.sum(axis=1)) @ known).tocsr()


def _epochs(examples: _Examples, maps: list[Tensor], fitting: Fitting) -> Iterator[Epoch]:
    """Train epoch by epoch; yield each one with its mean loss a query."""
    rng = np.random.default_rng(fitting.seed)
    optimiser = torch.optim.Adam(maps, lr=LEARNING_RATE)
    n = examples.known.shape[0]
    for number in range(1, fitting.epochs + 1):
        started = perf_counter()
        order = rng.permutation(n)
        total = 0.0
        for start in range(0, n, BATCH):
            batch = order[start : start + BATCH]
            loss = _batch_loss(examples, maps, batch, fitting.loss, rng)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            total += loss.item() * len(batch)
        yield Epoch(number, round(total / n, 4), round(perf_counter() - started, 3), {})


def _batch_loss(
    examples: _Examples, maps: list[Tensor], batch: NDArray[np.int64], loss: str, rng: np.random.Generator
) -> Tensor:
    """Several times, take one caption of each image; other captions known to fit an image are no negatives."""
    image_map, image_bias, text_map = maps
    views = examples.features[rng.integers(len(examples.features), size=len(batch)), batch]
    images = functional.normalize(functional.dropout(torch.from_numpy(views), DROPOUT) @ image_map + image_bias, dim=1)
    losses = []
    for captions in _captions_of(examples.known, batch, rng):
        texts = torch.from_numpy(examples.bags[captions].toarray()) @ text_map
        further = examples.known[batch][:, captions].toarray() > 0
        np.fill_diagonal(further, val=False)
        similarity = images @ functional.normalize(texts, dim=1).T
        losses.append(LOSSES[loss](similarity.masked_fill(torch.from_numpy(further), -torch.inf)))
    return torch.stack(losses).mean() / (2 * len(batch))


def _captions_of(
    known: sparse.csr_array, batch: NDArray[np.int64], rng: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    """Yield, CAPTIONS_PER_BATCH times, one known caption of each image, by lot and weight."""
    ends = np.cumsum(known.data, dtype=np.float64)
    first, last = known.indptr[batch], known.indptr[batch + 1] - 1
    before = ends[first] - known.data[first]
    for _ in range(CAPTIONS_PER_BATCH):
        drawn = before + rng.random(len(batch)) * (ends[last] - before)
        yield known.indices[np.clip(np.searchsorted(ends, drawn, side="right"), first, last)]
