"""The demo's annotators: their settings, the weights that come with the source, and how these are trained."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import CounterpartError, some_of
from core.progress import Progress, silent
from corpus.models import Collection
from counterpart_annotators.options import Value
from demo.collection import make_demo_collection
from mitl.models import Annotator
from mitl.registration import Origin, add_annotator, export_annotator
from mitl.training.trainer import train_annotator

WEIGHTS = Path(__file__).parent / "weights"
ORIGIN = Origin(source="Counterpart, trained on drawn lessons by train_demo_annotators", licence="MIT, as Counterpart")
LESSONS = "demo-lessons"


@dataclass(frozen=True)
class DemoAnnotator:
    """An annotator's kind, and the settings, loss and seed of its training."""

    kind: str
    settings: Mapping[str, Value]
    loss: str
    seed: int


SHORT: Mapping[str, Value] = {"epochs": 8, "batch": 64, "rate": 1e-3, "decay": "cosine", "smallest_crop": 0.6}
TRUNK: Mapping[str, Value] = {"trunk": "small", "picture": 64, "frozen": "nothing", "word": 64, "embed": 128}
# The papers' annotators share a trunk in the same way, one that was trained on ImageNet.
LEARNED_TRUNK: Mapping[str, Value] = {"trunk_from": "taught-pvse", "frozen": "trunk"}
# Narrow distributions at first, and distances of less weight, so that few pairs suffice.
NARROW: Mapping[str, Value] = {"log_sigma": -3.0, "shift": 5.0, "negative_scale": 5.0}
PATCHES: Mapping[str, Value] = {"picture": 64, "patch": 16, "context": 32, "pieces": 400}
TOWERS: Mapping[str, Value] = {
    f"{side}_{part}": size for side in ("image", "text") for part, size in (("layers", 3), ("width", 96), ("heads", 4))
}

ANNOTATORS = {
    "pvse": DemoAnnotator("pvse", {**SHORT, **TRUNK, "embeddings": 2}, "sum", 1),
    "clip": DemoAnnotator("clip", {**SHORT, **PATCHES, **TOWERS, "embed": 96, "epochs": 15}, "contrastive", 2),
    "pcme": DemoAnnotator("pcme", {**SHORT, **TRUNK, **LEARNED_TRUNK, **NARROW, "epochs": 4}, "pcme", 3),
    "vsrn": DemoAnnotator("vsrn", {**SHORT, **TRUNK, **LEARNED_TRUNK, "variant": "f30k", "captioner": 0}, "sum", 4),
    "vilt": DemoAnnotator("vilt", {**SHORT, **PATCHES, "layers": 3, "width": 96, "heads": 4, "negatives": 3}, "itm", 5),
}


def weights_of(name: str) -> Path:
    """Return the path of the weights of one of ``ANNOTATORS``."""
    return WEIGHTS / f"{name}.npz"


def add_demo_annotators() -> list[Annotator]:
    """Add the demo's annotators with their weights; existing ones stay as they are."""
    return [
        add_annotator(name, kind=annotator.kind, checkpoint=weights_of(name), origin=ORIGIN)
        for name, annotator in ANNOTATORS.items()
    ]


def train_demo_annotators(
    names: Sequence[str] = (), *, images: int = 800, seed: int = 1, progress: Progress = silent
) -> list[Annotator]:
    """Train the demo's annotators, all or those named, on drawn lessons and write their weights into the source.

    The lessons are drawn with another seed than the demo's pictures. An interrupted training resumes; a finished one
    is not repeated, and its weights are written again.

    Raises CounterpartError for unknown names, and if annotators ``taught-NAME`` exist with other settings.
    """
    unknown = [name for name in names if name not in ANNOTATORS]
    if unknown:
        raise CounterpartError(f"The demo has no annotators {some_of(unknown)}; it has {', '.join(ANNOTATORS)}.")
    lessons = make_demo_collection(LESSONS, images=images, seed=seed, lessons=True, progress=progress)
    return [_train(name, lessons, progress) for name in names or ANNOTATORS]


def _train(name: str, lessons: Collection, progress: Progress) -> Annotator:
    demo = ANNOTATORS[name]
    add_annotator(f"taught-{name}", kind=demo.kind, options=demo.settings)
    annotator = train_annotator(f"taught-{name}", collection=lessons, loss=demo.loss, seed=demo.seed, progress=progress)
    fresh = weights_of(name).with_suffix(".fresh.npz")
    fresh.unlink(missing_ok=True)
    export_annotator(annotator, fresh, half=True)
    fresh.replace(weights_of(name))
    return annotator
