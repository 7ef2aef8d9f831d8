"""evaluate --version V [--rankings FILE ...]: score models on a released version."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from dataset.models import Version
from evaluation.leaderboard import board_from, csv_table, figures_of, latex_table, plain_table
from evaluation.scoring import evaluate_version


class Command(ActCommand):
    help = "Score models on a released version: mAP@R, R-Precision and R@k, on average and in both directions."
    figures = True

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # Replaces Django's --version: here it names a version of a dataset.
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--version", required=True, help="name of the version")
        parser.add_argument(
            "--rankings",
            type=Path,
            nargs="+",
            default=[],
            metavar="FILE",
            help="files of rankings: .json, .npz, .parquet, or a TREC run (.run, .trec, .txt); default: the annotators "
            "of the version's rounds",
        )
        parser.add_argument("--model", default="", help="name of the model (default: the file's, without its suffix)")
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--latex", action="store_true", help="print a LaTeX tabular")
        form.add_argument("--csv", action="store_true", help="print CSV")

    def act(self, progress: TerminalBar, **options: Any) -> str | dict[str, Any]:
        version = Version.objects.named(options["version"])
        scored = evaluate_version(version, rankings=options["rankings"], model=options["model"], progress=progress)
        board = board_from(scored)
        if options["json"]:
            return figures_of(board)
        table = latex_table if options["latex"] else csv_table if options["csv"] else plain_table
        return table(board)
