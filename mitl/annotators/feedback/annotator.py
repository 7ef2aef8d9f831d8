"""Relevance feedback over the embeddings of another annotator."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from core.errors import CounterpartError
from core.progress import Progress, silent
from counterpart_annotators.base import Arrays, ComparingAnnotator, EmbeddingAnnotator, StoredAnnotator
from counterpart_annotators.encoding import Cache, Embeddings
from counterpart_annotators.options import Settings
from counterpart_annotators.plain import PlainCaption, PlainImage
from counterpart_annotators.training.learners import Trained, TrainingPlan, TrainingSet
from mitl.annotators import load, open_cache
from mitl.models import Annotator

TOWARDS = (0.0, 0.25, 0.5, 1.0, 2.0)  # shares of the mean of the matches that are tried
AWAY = (0.0, 0.25, 0.5)  # shares of the mean of the rejected items
FOLDS = 5
FEWEST = 10
"""Matches, and rejected pairs, from which the shares are chosen; with fewer they are the ``USUAL`` ones."""
USUAL = (0.5, 0.0)

Floats = NDArray[np.float32]


class Feedback(EmbeddingAnnotator):
    """Embeds as another annotator does, and adds to each known row its move."""

    def __init__(self, base: Annotator, arrays: Arrays, device: str) -> None:
        self._base = opened(base, device)
        self._cache = open_cache(base)
        self.looks_at_pictures = self._base.looks_at_pictures
        self._moves = {
            side: dict(zip(arrays[f"{side}s"].tolist(), arrays[f"{side}_moves"], strict=True))
            for side in ("image", "caption")
        }

    def encode_images(self, images: Sequence[PlainImage]) -> Embeddings:
        """Return rows (N, D), moved."""
        return self._moved("image", self._base.encode_images(images), images)

    def encode_captions(self, captions: Sequence[PlainCaption]) -> Embeddings:
        """Return rows (M, D), moved."""
        return self._moved("caption", self._base.encode_captions(captions), captions)

    def encode(
        self,
        images: Sequence[PlainImage],
        captions: Sequence[PlainCaption],
        *,
        cache: Cache | None = None,
        progress: Progress = silent,
    ) -> tuple[Embeddings, Embeddings]:
        """Return both sides, moved, from the embeddings that are kept of the other annotator."""
        rows, columns = self._base.encode(images, captions, cache=self._cache, progress=progress)
        return self._moved("image", rows, images), self._moved("caption", columns, captions)

    def _moved(
        self, side: str, embeddings: Embeddings, rows: Sequence[PlainImage] | Sequence[PlainCaption]
    ) -> Embeddings:
        moves = self._moves[side]
        still = np.zeros(embeddings.shape[-1], np.float32)
        moved = np.stack([moves.get(row.key, still) for row in rows])
        return embeddings + (moved if embeddings.ndim == 2 else moved[:, None])


def open_annotator(stored: StoredAnnotator, device: str) -> Feedback:
    """Load the annotator. Raises CounterpartError as ``opened`` does."""
    return Feedback(_base(stored.options), stored.arrays, device)


def opened(base: Annotator, device: str = "cpu") -> EmbeddingAnnotator:
    """Load the annotator whose embeddings are moved. Raises CounterpartError unless it compares those of images with
    those of captions by their inner product."""
    opened = load(base, device)
    if not isinstance(opened, EmbeddingAnnotator) or isinstance(opened, ComparingAnnotator):
        raise CounterpartError(f"{base} does not compare embeddings by their inner product: feedback cannot move them.")
    return opened


def train(examples: TrainingSet, plan: TrainingPlan, progress: Progress) -> Trained:
    """Choose the shares and compute the moves. Raises CounterpartError as ``opened`` does."""
    base = _base(plan.settings)
    images, captions = opened(base, plan.device).encode(
        examples.images, examples.captions, cache=open_cache(base), progress=progress
    )
    judged = _Judged.of(examples, images, captions)
    shares, auc = judged.best_shares(plan.seed)
    moves = judged.moves(shares)
    arrays = {
        "images": np.array([image.key for image in examples.images]),
        "image_moves": moves[0],
        "captions": np.array([caption.key for caption in examples.captions]),
        "caption_moves": moves[1],
    }
    figures: dict[str, object] = {"towards": shares[0], "away": shares[1], "rejected": len(examples.rejected)}
    return Trained(arrays, figures | ({} if auc is None else {"held_out_auc": round(auc, 4)}))


def architecture(settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Describe what moves, for the annotator's page."""
    moved = {side: int(arrays[f"{side}_moves"].any(axis=1).sum()) for side in ("image", "caption")}
    return {"embeddings of": str(settings["of"]), "moved": f"{moved['image']:,} images, {moved['caption']:,} captions"}


def _base(settings: Settings) -> Annotator:
    return Annotator.objects.named(str(settings["of"]))


@dataclass(frozen=True)
class _Judged:
    """Embeddings (N, K, D) and (M, K, D), and the judged pairs (E, 2) of their rows with what they say: match or not.
    Own captions of an image are not among them. All K embeddings of an item move alike."""

    images: Floats
    captions: Floats
    pairs: NDArray[np.int64]
    matches: NDArray[np.bool_]

    @classmethod
    def of(cls, examples: TrainingSet, images: Floats, captions: Floats) -> "_Judged":
        pairs = np.concatenate([examples.pairs, examples.rejected])
        matches = np.arange(len(pairs)) < len(examples.pairs)
        image_keys = np.array([image.key for image in examples.images])
        own = np.array([caption.image for caption in examples.captions])
        others = image_keys[pairs[:, 0]] != own[pairs[:, 1]]
        several = [side if side.ndim == 3 else side[:, None] for side in (images, captions)]
        return cls(several[0], several[1], pairs[others], matches[others])

    def moves(self, shares: tuple[float, float]) -> tuple[Floats, Floats]:
        """Return by how much each row of both sides moves, for shares of the matches' and the rejected items' means."""
        towards, away = (self._means(self.pairs[self.matches == is_match]) for is_match in (True, False))
        return shares[0] * towards[0] - shares[1] * away[0], shares[0] * towards[1] - shares[1] * away[1]

    def _means(self, pairs: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return the mean (N, D) and (M, D) of the other side's embeddings over each row's pairs; zeros without one."""
        linked = sparse.csr_array(
            (np.ones(len(pairs), np.float32), pairs.T), shape=(len(self.images), len(self.captions))
        )
        counts = [np.maximum(linked.sum(axis=axis), 1)[:, None] for axis in (1, 0)]
        return linked @ self.captions.mean(axis=1) / counts[0], linked.T @ self.images.mean(axis=1) / counts[1]

    def best_shares(self, seed: int) -> tuple[tuple[float, float], float | None]:
        """Return the shares by which the moved embeddings separate held-out matches and rejected pairs best, and the
        area under that curve; the smallest of equal ones."""
        from sklearn.metrics import roc_auc_score

        if min(self.matches.sum(), (~self.matches).sum()) < FEWEST:
            return USUAL, None
        fold = np.random.default_rng(seed).permutation(len(self.pairs)) % FOLDS
        scores = {(towards, away): np.zeros(len(self.pairs)) for towards in TOWARDS for away in AWAY}
        for number in range(FOLDS):
            held = fold == number
            known = replace(self, pairs=self.pairs[~held], matches=self.matches[~held])
            images, captions = self.pairs[held].T
            for shares, found in scores.items():
                moves = known.moves(shares)
                moved = self.images[images] + moves[0][images, None], self.captions[captions] + moves[1][captions, None]
                found[held] = (moved[0] @ moved[1].transpose(0, 2, 1)).max(axis=(1, 2))
        areas = {shares: float(roc_auc_score(self.matches, found)) for shares, found in scores.items()}
        best = max(areas, key=lambda shares: (areas[shares], -sum(shares)))
        return best, areas[best]
