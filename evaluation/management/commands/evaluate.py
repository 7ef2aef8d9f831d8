"""evaluate (--version V | --benchmark B) [--rankings FILE ...]: score models on a released version or a benchmark."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.errors import CounterpartError
from core.progress import TerminalBar
from dataset.models import Version
from evaluation.benchmark_scores import ORDER, evaluate_benchmarks
from evaluation.board_tables import csv_table, figures_of, latex_table, plain_table
from evaluation.leaderboard import Board, board_from
from evaluation.policies import MISSING, TIES, Policies
from evaluation.scoring import evaluate_version


class Command(ActCommand):
    help = (
        "Score models on a released version or on named benchmarks: mAP@R, R-Precision and R@k, on average and in both "
        "directions."
    )
    figures = True

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # Replaces Django's --version: here it names a version of a dataset.
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        on = parser.add_mutually_exclusive_group(required=True)
        on.add_argument("--version", help="name of a version; the rankings are registered and scored on it")
        on.add_argument(
            "--benchmark",
            type=lambda text: text.split(","),
            metavar="B,B",
            help=f"named benchmarks on COCO's test images: {', '.join(ORDER)}; ids are COCO's, nothing is stored",
        )
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
        parser.add_argument(
            "--categories", type=Path, metavar="FILE", help="COCO's instances_val2014.json, which pmrp needs"
        )
        parser.add_argument(
            "--zeta",
            type=lambda text: [int(one) for one in text.split(",")],
            default=[0],
            metavar="Z,Z",
            help="of pmrp: in how many categories plausible matches may differ, a column each (default 0, as table 4)",
        )
        parser.add_argument(
            "--ties",
            choices=TIES,
            default="file",
            help="of equal scores, keep the file's order, ours or trec_eval's, or print the interval over all orders",
        )
        parser.add_argument(
            "--missing",
            choices=MISSING,
            default="wrong",
            help="ranks beyond the end of a list are wrong, an interval, or refused (default wrong)",
        )
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--latex", action="store_true", help="print a LaTeX tabular")
        form.add_argument("--csv", action="store_true", help="print CSV")

    def act(self, progress: TerminalBar, **options: Any) -> str | dict[str, Any]:
        policies = Policies(options["ties"], options["missing"])
        files = len(options["rankings"])
        if options["model"] and files != 1:
            raise CounterpartError(f"--model names one file of rankings, not {files}. Leave it out.")
        board = (self._on_benchmarks if options["benchmark"] else self._on_version)(progress, policies, options)
        if options["json"]:
            return figures_of(board)
        table = latex_table if options["latex"] else csv_table if options["csv"] else plain_table
        return table(board)

    def _on_version(self, progress: TerminalBar, policies: Policies, options: dict[str, Any]) -> Board:
        scored = evaluate_version(
            Version.objects.named(options["version"]),
            rankings=options["rankings"],
            model=options["model"],
            policies=policies,
            progress=progress,
        )
        return board_from(scored, compare=not policies.leave_interval)

    def _on_benchmarks(self, progress: TerminalBar, policies: Policies, options: dict[str, Any]) -> Board:
        if not options["rankings"]:
            raise CounterpartError("A benchmark has no annotators of its own. Pass --rankings FILE.")
        return evaluate_benchmarks(
            options["benchmark"],
            options["rankings"],
            model=options["model"],
            categories=options["categories"],
            zetas=options["zeta"],
            policies=policies,
            progress=progress,
        )
