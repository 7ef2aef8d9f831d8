from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from mitl.active_learning.active_parameters import ActiveParameters
from mitl.charts.drawing import check_chart_path, write_chart
from mitl.management.commands.add_annotator import add_setting_option


class Command(ActCommand):
    step = "papers"
    help = (
        "Compare ways to choose the images that get captions next (or captions that get images): what an annotator "
        "learns. At the start, some of the training images are paired with a caption each. In every step an annotator "
        "is trained from scratch on the pairs, retrieval is measured, and what a score chooses is paired. surplus and "
        "count: hard negatives of the pairs; core-set: far from all paired ones, core-set-bags: by their regions; "
        "random. Lists of --top-k and --mini-batch make a grid. The database does not change; the same seeds give the "
        "same figures; an interrupted run resumes."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add_setting_option(parser, "a setting of the annotator, before those of --preset: batch=64; may be repeated")
        parser.add_argument("--plot", type=Path, metavar="FILE", help="plot R@1 into this .svg, .png or .pdf file")

    def act(self, progress: TerminalBar, *, parameters: ActiveParameters, **options: Any) -> str | dict[str, Any]:
        from mitl.active_learning.experiments import active_learning, chart_of, table_of  # slow to import

        if options["plot"]:
            check_chart_path(options["plot"])
        figures = active_learning(parameters, options=dict(options["given"]), progress=progress)
        if options["plot"]:
            write_chart(chart_of(figures), options["plot"])
        return figures if options["json"] else table_of(figures)
