"""Make the weights that the house brings along for the demo's machines."""

from collections.abc import Sequence

from core.errors import CounterpartError, some_of
from core.progress import Progress, silent
from corpus.models import Collection
from demo.collection import make_demo_collection
from demo.machines import MACHINES, weights_of
from mitl.exporting import export_annotator
from mitl.models import Annotator
from mitl.registration import add_annotator
from mitl.training.trainer import train_annotator

LESSONS = "demo-lessons"


def teach_demo_machines(
    names: Sequence[str] = (), *, images: int = 800, seed: int = 1, progress: Progress = silent
) -> list[Annotator]:
    """Train the demo's machines, all or those named, on drawn lessons and write their weights into the source.

    The lessons are drawn with another seed than the demo's pictures. A training that was interrupted goes on; one
    that is finished is not repeated, and its weights are written again.

    Raises CounterpartError for names that are no demo machine's, and where the annotators ``taught-NAME`` are there
    with other settings.
    """
    unknown = [name for name in names if name not in MACHINES]
    if unknown:
        raise CounterpartError(f"The demo has no machines {some_of(unknown)}; it has {', '.join(MACHINES)}.")
    lessons = make_demo_collection(LESSONS, images=images, seed=seed, lessons=True, progress=progress)
    return [_taught(name, lessons, progress) for name in names or MACHINES]


def _taught(name: str, lessons: Collection, progress: Progress) -> Annotator:
    machine = MACHINES[name]
    add_annotator(f"taught-{name}", kind=machine.kind, options=machine.settings)
    annotator = train_annotator(
        f"taught-{name}", collection=lessons, loss=machine.loss, seed=machine.seed, progress=progress
    )
    fresh = weights_of(name).with_suffix(".fresh.npz")
    fresh.unlink(missing_ok=True)
    export_annotator(annotator, fresh, half=True)
    fresh.replace(weights_of(name))
    return annotator
