"""Small drawn collections without a database, models that learn from them, and their recalls."""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PIL import Image as Pillow

from counterpart_annotators.base import StoredAnnotator
from counterpart_annotators.checkpoints import Checkpoints
from counterpart_annotators.plain import PlainCaption, PlainImage
from counterpart_annotators.progress import silent
from counterpart_annotators.training.learners import TrainingPlan, TrainingSet
from counterpart_drawn import Plate, compose, draw_scene
from counterpart_topk.hubness import DEPTHS, Transposed
from counterpart_topk.hubness.chosen_steps import OneDirection
from counterpart_topk.hubness.score_blocks import Matrix
from counterpart_topk.hubness.step_tables import MethodRecall

SIZE = (96, 72)


@dataclass(frozen=True)
class Kept(PlainImage):
    """A picture in memory."""

    pixels: bytes = b""

    def open(self) -> Pillow.Image:
        return Pillow.frombytes("RGB", SIZE, self.pixels)


@dataclass(frozen=True)
class Drawings:
    """Drawn scenes with their pictures."""

    plates: list[Plate]
    images: list[Kept]

    def part(self, split: str, *, most: int | None = None, captions: int) -> TrainingSet:
        """Return pictures of a split with their first captions."""
        rows = [row for row in zip(self.plates, self.images, strict=True) if row[0].split == split][:most]
        texts = [
            PlainCaption(key, text, plate.key)
            for plate, _ in rows
            for key, text in list(zip(plate.caption_keys, plate.texts, strict=True))[:captions]
        ]
        pairs = np.stack([np.repeat(np.arange(len(rows)), captions), np.arange(len(texts))], axis=1)
        return TrainingSet([image for _, image in rows], texts, pairs, np.ones(len(texts), dtype=np.float32))

    def write(self, folder: Path, features: np.ndarray) -> None:
        """Write features of all pictures, in their order, as kinds read them."""
        np.save(folder / "all_ims.npy", features.astype(np.float32))
        (folder / "all_ids.txt").write_text("".join(f"{plate.key}\n" for plate in self.plates))


@cache
def draw(pictures: int, seed: int, tested: float) -> Drawings:
    """Draw pictures, the share ``tested`` of them in the split ``test``, the others in ``train``."""
    plates = compose(pictures, seed, (("test", tested),))
    jpegs = (draw_scene(plate.scene, np.random.default_rng([seed, n])) for n, plate in enumerate(plates))
    small = [Pillow.open(BytesIO(jpeg)).resize(SIZE, Pillow.Resampling.BOX).tobytes() for jpeg in jpegs]
    images = [Kept(p.key, f"{p.key}.jpg", sha256=p.key, pixels=one) for p, one in zip(plates, small, strict=True)]
    return Drawings(plates, images)


def trained(kind: str, settings: dict[str, Any], lessons: TrainingSet, loss: str = "") -> Any:
    """Train an annotator of a kind with seed 0 and open it."""
    module = import_module(f"counterpart_annotators.kinds.{kind}.annotator")
    with TemporaryDirectory() as folder:
        plan = TrainingPlan(settings, loss, 0, "cpu", Checkpoints(Path(folder)))
        return module.open_annotator(StoredAnnotator(kind, settings, module.train(lessons, plan, silent).arrays), "cpu")


def recalls(scores: np.ndarray, pairs: np.ndarray) -> MethodRecall:
    """Return R@1, R@5 and R@10 of images and of captions from scores (N, M) and the known pairs (P, 2)."""
    matrix = Matrix(scores)
    sides = OneDirection(matrix, pairs), OneDirection(Transposed(matrix), pairs[:, ::-1])
    rows, columns = (tuple(100 * side.recall((), depth) for depth in DEPTHS) for side in sides)
    return MethodRecall("NNS", None, rows, columns)
