"""Active learning of the little annotator on images that are in no database."""

from pathlib import Path

from core.progress import Progress, silent
from little import make_examples
from mitl.active_learning.active_parameters import ActiveParameters
from mitl.active_learning.active_steps import Scenario
from mitl.active_learning.paired_images import one_caption_each
from mitl.models import Annotator

SEED = 3


def make_scenario(folder: Path, *, progress: Progress = silent, **parameters) -> Scenario:
    """40 images, 12 paired at the start and 2 in a step; the kind ``little`` must be plugged in."""
    lessons = make_examples(40)
    lessons = one_caption_each(
        type(lessons)(lessons.images, lessons.captions[::2], lessons.pairs[:40], lessons.weights[:40]), range(40)
    )
    asked = ActiveParameters(**{"collection": "none", "kind": "vse", "score": ("surplus", "random"), **parameters})
    annotator = Annotator(name="little", kind="little", options={"epochs": 3, "batch": 8, "rate": 0.03})
    measured = make_examples(20, start=1000)
    return Scenario(asked, annotator, "sum", lessons, measured, 12, 2, folder, progress)
