"""The hubness paper's losses on drawn pictures: VSE and order embeddings over codes of patches, one seed."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from counterpart_annotators.base import StoredAnnotator
from counterpart_annotators.checkpoints import Checkpoints
from counterpart_annotators.kinds.embedding.patches import PICTURE_FEATURES, read_pictures
from counterpart_annotators.kinds.vse import OPTIONS
from counterpart_annotators.kinds.vse.annotator import open_annotator, train
from counterpart_annotators.options import defaults
from counterpart_annotators.plain import PlainCaption, PlainImage
from counterpart_annotators.progress import silent
from counterpart_annotators.training.learners import TrainingPlan, TrainingSet
from counterpart_annotators.training.loop import repeatable
from counterpart_drawn import Plate, compose, draw_scene
from counterpart_topk.hubness import DEPTHS, Transposed, hs_sum
from counterpart_topk.hubness.chosen_steps import OneDirection
from counterpart_topk.hubness.score_blocks import Matrix, best_places, whole
from counterpart_topk.hubness.step_tables import MethodRecall

IMAGES = 200
MODEL = {"trunk": "none", "frozen": "nothing", "word": 32, "embed": 64, "rarest": 2, "epochs": 20}
QUICK, SLOW = {"rate": 1e-3, "step": 7}, {"rate": 2e-4, "step": 10}  # the paper's, of MAX the slow one
NAMES = {"sum": "SUM", "max": "MAX", "hal": "HAL", "hal-max": "MAX+HAL"}
SOURCE = f"{IMAGES} drawn pictures, 5 captions each"


@dataclass(frozen=True)
class Learned:
    """A trained model on the drawn test split: its plain recalls, hs-sum, and N_1 of the images."""

    recall: MethodRecall
    hubs: float
    n_1: NDArray[np.int64]

    @property
    def cells(self) -> str:
        """The row of a table: R@1, R@5, R@10 both ways, rsum, hs-sum."""
        recalls = "|".join(f"{one:.1f}" for one in (*self.recall.rows, *self.recall.columns, self.recall.rsum))
        return f"{recalls}|{self.hubs:.2f}"


@cache
def learned(loss: str, neighbours: int = 3, score: str = "inner", features: str = "patches") -> Learned:
    """Train one model and measure it."""
    examples, tested, vectors = _collection(features)
    rates = SLOW if "max" in loss else QUICK
    settings = defaults(OPTIONS) | MODEL | rates | {"neighbours": neighbours, "score": score}
    with TemporaryDirectory() as folder:
        np.save(Path(folder) / "all_ims.npy", vectors)
        images = [*examples.images, *tested.images]
        (Path(folder) / "all_ids.txt").write_text("\n".join(image.key for image in images))
        settings["vectors"] = folder
        plan = TrainingPlan(settings, loss, 0, "cpu", Checkpoints(Path(folder) / "work"))
        trained = train(examples, plan, silent)
        model = open_annotator(StoredAnnotator(loss, settings, trained.arrays), "cpu")
        scores = Matrix(whole(model.scores(tested.images, tested.captions)))
    lists = [(best_places(side, 10)[0], side.shape[1]) for side in (scores, Transposed(scores))]
    first = np.bincount(lists[1][0][:, 0], minlength=lists[1][1])
    sides = OneDirection(scores, tested.pairs), OneDirection(Transposed(scores), tested.pairs[:, ::-1])
    rows, columns = (tuple(100 * side.recall((), depth) for depth in DEPTHS) for side in sides)
    return Learned(MethodRecall("NNS", None, rows, columns), hs_sum(lists), first)


@cache
def _collection(features: str) -> tuple[TrainingSet, TrainingSet, NDArray[np.float32]]:
    """Return what is learned from, what is measured, and a unit vector of every picture, in this order."""
    plates = compose(IMAGES, seed=0, held_out=(("test", 0.4),))
    plates = [one for split in ("train", "test") for one in plates if one.split == split]
    n = sum(plate.split == "train" for plate in plates)
    with TemporaryDirectory() as folder:
        images = []
        for place, plate in enumerate(plates):
            file = Path(folder) / f"{plate.key}.jpg"
            file.write_bytes(draw_scene(plate.scene, np.random.default_rng([0, place])))
            images.append(PlainImage(plate.key, str(file)))
        pictures = read_pictures(images)
    codes = PICTURE_FEATURES[features]
    with repeatable(0):
        rows = codes.of(pictures, codes.learn(pictures[:n], 0))
    rows = (rows - rows.mean(0)) / (rows.std(0) + 1e-3)
    vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return _examples(plates[:n], images[:n]), _examples(plates[n:], images[n:]), vectors


def _examples(plates: list[Plate], images: list[PlainImage]) -> TrainingSet:
    captions = [
        PlainCaption(key, text, plate.key)
        for plate in plates
        for key, text in zip(plate.caption_keys, plate.texts, strict=True)
    ]
    pairs = np.array([(place // 5, place) for place in range(len(captions))])
    return TrainingSet(images, captions, pairs, np.ones(len(pairs), np.float32))
