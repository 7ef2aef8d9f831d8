from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from core.seeds import add_seed
from demo.demo_annotators import ANNOTATORS, train_demo_annotators, weights_of


class Command(ActCommand):
    step = "papers"
    help = (
        "Train the demo's annotators on a drawn collection: their weights are written into the source (demo/weights). "
        "Takes several minutes per annotator; after an interruption the same command resumes."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(ANNOTATORS)} (default: all)")
        parser.add_argument("--images", type=int, default=800, help="number of pictures to learn from (default 800)")
        add_seed(parser, "random seed of the pictures; the demo uses 0", default=1)

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        trained = train_demo_annotators(
            options["names"], images=options["images"], seed=options["seed"], progress=progress
        )
        return {
            annotator.name.removeprefix("taught-"): {
                **annotator.trained_on,
                "bytes": weights_of(annotator.name.removeprefix("taught-")).stat().st_size,
            }
            for annotator in trained
        }
