"""The hubness paper's losses on drawn pictures: VSE and order embeddings over codes of patches, one seed."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.drawings import draw, recalls, trained
from counterpart_annotators.kinds.embedding.patches import PICTURE_FEATURES, read_pictures
from counterpart_annotators.kinds.vse import OPTIONS
from counterpart_annotators.options import defaults
from counterpart_annotators.training.loop import repeatable
from counterpart_topk.hubness import Transposed, hs_sum
from counterpart_topk.hubness.score_blocks import Matrix, best_places, whole
from counterpart_topk.hubness.step_tables import MethodRecall

IMAGES, TESTED = 200, 0.4
MODEL = {"trunk": "none", "frozen": "nothing", "word": 32, "embed": 64, "rarest": 2, "epochs": 20}
QUICK, SLOW = {"rate": 1e-3, "step": 7}, {"rate": 2e-4, "step": 10}  # the paper's, of MAX the slow one
NAMES = {"sum": "SUM", "max": "MAX", "hal": "HAL", "hal-max": "MAX+HAL"}


@dataclass(frozen=True)
class Learned:
    """A trained model on the drawn test split: its plain recalls, hs-sum, and N_1 of the images."""

    recall: MethodRecall
    hubs: float
    n_1: NDArray[np.int64]

    @property
    def cells(self) -> list[str]:
        """The row of a table: R@1, R@5, R@10 both ways, rsum, hs-sum."""
        recalls = (*self.recall.rows, *self.recall.columns, self.recall.rsum)
        return [*(f"{one:.1f}" for one in recalls), f"{self.hubs:.2f}"]


def learned(loss: str, neighbours: int = 3, score: str = "inner") -> Learned:
    return _learned(loss, neighbours, score)


@cache
def _learned(loss: str, neighbours: int, score: str) -> Learned:
    """Train one model and measure it."""
    drawings = draw(IMAGES, 0, TESTED)
    lessons, tested = (drawings.part(split, captions=5) for split in ("train", "test"))
    rates = SLOW if "max" in loss else QUICK
    settings = defaults(OPTIONS) | MODEL | rates | {"neighbours": neighbours, "score": score}
    with TemporaryDirectory() as folder:
        drawings.write(Path(folder), _vectors())
        model = trained("vse", settings | {"vectors": folder}, lessons, loss)
        scores = whole(model.scores(tested.images, tested.captions))
    sides = Matrix(scores), Transposed(Matrix(scores))
    lists = [(best_places(side, 10)[0], side.shape[1]) for side in sides]
    first = np.bincount(lists[1][0][:, 0], minlength=lists[1][1])
    return Learned(recalls(scores, tested.pairs), hs_sum(lists), first)


@cache
def _vectors() -> NDArray[np.float32]:
    """Return a unit vector of codes of patches for every picture; the codes are learned from those of training."""
    drawings = draw(IMAGES, 0, TESTED)
    pictures = read_pictures(drawings.images)
    codes = PICTURE_FEATURES["patches"]
    with repeatable(0):
        rows = codes.of(pictures, codes.learn(pictures[[one.split == "train" for one in drawings.plates]], 0))
    rows = (rows - rows.mean(0)) / (rows.std(0) + 1e-3)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
