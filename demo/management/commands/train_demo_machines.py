"""train_demo_machines [NAME ...]: make the weights that the source brings along for the demo."""

from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from demo.machines import MACHINES, weights_of
from demo.teaching import teach_demo_machines


class Command(ActCommand):
    help = (
        "Train the demo's machines on drawn lessons and write their weights into the source (demo/weights). Takes "
        "several minutes a machine; interrupted, the same command goes on."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("names", nargs="*", metavar="NAME", help=f"which of {', '.join(MACHINES)} (default: all)")
        parser.add_argument("--images", type=int, default=800, help="how many pictures to learn from (default 800)")
        parser.add_argument("--seed", type=int, default=1, help="of the lessons (default 1; the demo's own is 0)")

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        taught = teach_demo_machines(
            options["names"], images=options["images"], seed=options["seed"], progress=progress
        )
        return {
            annotator.name.removeprefix("taught-"): {
                **annotator.trained_on,
                "bytes": weights_of(annotator.name.removeprefix("taught-")).stat().st_size,
            }
            for annotator in taught
        }
