from dataclasses import asdict
from typing import Any

from core.commands import ActCommand
from core.progress import TerminalBar
from corpus.models import Collection
from counterpart_annotators.training.learners import in_order
from mitl.training.trainer import TrainParameters, train_annotator


class Command(ActCommand):
    step = "annotators"
    help = (
        "Train an annotator on a collection's training splits: on all of it if it has none. The weights of the epoch "
        "that was best on the validation split are stored. The same seed gives the same weights; repeating the command "
        "changes nothing; an interrupted training resumes. Epochs, batch size, learning rate, patience and others are "
        "options of the annotator (add_annotator --option)."
    )

    def act(self, progress: TerminalBar, *, parameters: TrainParameters, **options: Any) -> dict[str, Any]:
        chosen = asdict(parameters) | {"collection": Collection.objects.named(parameters.collection)}
        annotator = train_annotator(**chosen, progress=progress)
        curve = [
            {name: epoch[name] for name in ("number", "loss", "seconds")} | in_order(epoch["validation"])
            for epoch in annotator.curve
        ]
        return {"annotator": annotator.name, "weights": annotator.checksum, **annotator.trained_on, "curve": curve}
