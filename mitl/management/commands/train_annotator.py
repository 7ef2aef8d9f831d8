"""train_annotator NAME --collection C [--matches SOURCE] [--loss L] [--seed S]: train on the training split."""

from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from core.seeds import add_seed
from corpus.models import Collection, Match
from mitl.training.examples import Validation
from mitl.training.learners import in_order
from mitl.training.trainer import train_annotator


class Command(ActCommand):
    help = (
        "Train an annotator on a collection's training splits (on all of it if it has none) and store the weights of "
        "the epoch that was best on the validation split. The same seed gives the same weights; repeating the command "
        "changes nothing; an interrupted training resumes. Epochs, batch size, learning rate, patience and others are "
        "options of the annotator (add_annotator --option)."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="name of the annotator")
        parser.add_argument("--collection", required=True, metavar="C", help="collection to train on")
        parser.add_argument(
            "--matches",
            default=Match.ORIGINAL,
            metavar="SOURCE",
            help="source of the positive pairs; of a source with levels, 1 and 2, and 2 counts half (default original)",
        )
        parser.add_argument(
            "--loss",
            metavar="L",
            help="loss: sum, max, semi-hard, hal ... (default: that of the kind)",
        )
        add_seed(parser)
        parser.add_argument(
            "--validation",
            choices=[one.value for one in Validation],
            default=Validation.SPLIT.value,
            help="the split val, if there is one (default); a random tenth of the training images; none",
        )
        parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="device to train on (default cpu)")

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        names = ("matches", "loss", "seed", "validation", "device")
        annotator = train_annotator(
            options["name"],
            collection=Collection.objects.named(options["collection"]),
            **{name: options[name] for name in names},
            progress=progress,
        )
        curve = [
            {name: epoch[name] for name in ("number", "loss", "seconds")} | in_order(epoch["validation"])
            for epoch in annotator.curve
        ]
        return {"annotator": annotator.name, "weights": annotator.checksum, **annotator.trained_on, "curve": curve}
