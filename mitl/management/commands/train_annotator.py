"""train_annotator NAME --collection C [--matches SOURCE] [--loss L] [--seed S]: learn from the training split."""

from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from corpus.models import Collection, Match
from mitl.training.examples import Validation
from mitl.training.learners import in_order
from mitl.training.trainer import train_annotator


class Command(ActCommand):
    help = (
        "Train a machine on a collection's training splits (all of it where it has none) and keep the weights of the "
        "epoch that was best on the validation split. The same seed gives the same weights; training the same again "
        "changes nothing; an interrupted training goes on where it was. How long and how fast is the machine's own "
        "options: epochs, batch, rate, patience and others (add_annotator --option)."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the annotator, as add_annotator named it")
        parser.add_argument("--collection", required=True, metavar="C", help="the collection to learn from")
        parser.add_argument(
            "--matches",
            default=Match.ORIGINAL,
            metavar="SOURCE",
            help="whose pairs are the positives; of a source with levels, 1 and 2, of which 2 counts half"
            " (default original)",
        )
        parser.add_argument(
            "--loss",
            metavar="L",
            help="one that the machine learns with: sum, max, semi-hard, hal ... (default: its usual)",
        )
        parser.add_argument("--seed", type=int, default=0, metavar="S", help="of weights and order (default 0)")
        parser.add_argument(
            "--validation",
            choices=[one.value for one in Validation],
            default=Validation.SPLIT.value,
            help="the split val, where there is one (default); a tenth of the training images by lot; none",
        )
        parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where to train (default cpu)")

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
