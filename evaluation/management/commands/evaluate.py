from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.csv_output import add_csv, check_csv, put_csv
from core.errors import CounterpartError
from core.progress import TerminalBar
from counterpart_metrics.explained import figures_of as explained_figures
from counterpart_metrics.explained import printed
from dataset.models import Version
from dataset.versions.version_files import kept_guards
from evaluation.auditing.score_guards import guard_table
from evaluation.ranking_files import packed_folders
from evaluation.scores.benchmark_scores import ORDER, evaluate_benchmarks
from evaluation.scores.board_tables import csv_table, figures_of, latex_table, plain_table
from evaluation.scores.boards import Board
from evaluation.scores.evaluate_parameters import EvaluateParameters
from evaluation.scores.explained_scores import explain_figure
from evaluation.scores.leaderboard import board_from, caution_of, estimand_of
from evaluation.scores.scoring import evaluate_version


class Command(ActCommand):
    step = "scores"
    help = (
        "Score models on a released version or on named benchmarks: mAP@R, R-Precision and R@k, on average and in both "
        "directions. Give --version or --benchmark. Intervals are for queries drawn like those of the version."
    )

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # Replaces Django's --version: here it names a version of a dataset.
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        on = parser.add_mutually_exclusive_group()
        on.add_argument("--version", help="name of a version; the rankings are registered and scored on it")
        on.add_argument(
            "--benchmark",
            type=lambda text: text.split(","),
            metavar="B,B",
            help=f"benchmarks: {', '.join(ORDER)}, with COCO's ids; released versions by name; exports of any site by "
            "their file or folder (eccv-json, qrels, mteb, parquet, hf), with the ids of its files",
        )
        parser.add_argument(
            "--rankings",
            type=Path,
            nargs="+",
            default=[],
            metavar="FILE",
            help="files of rankings: .json, .npz, .parquet, .csv, .tsv, or a TREC run (.run, .trec, .txt); folders of "
            "results, or their .zip: MTEB's predictions, or tables that Hugging Face's datasets wrote; default: the "
            "annotators of the version's rounds",
        )
        parser.add_argument(
            "--explain",
            metavar="FIGURE",
            help="say which protocol gives a figure that you have, as in 61.1 or 'R@1 i2t=61.1': 1K or 5K, any or each "
            "of the captions, the order of ties, gallery, queries without a match; default: the named benchmarks",
        )
        super().add_arguments(parser)
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--latex", action="store_true", help="print a LaTeX table with intervals")
        add_csv(form, "the figures")

    def act(
        self, progress: TerminalBar, *, parameters: EvaluateParameters, rankings: list[Path], **options: Any
    ) -> str | dict[str, Any]:
        _check(parameters, rankings, options)
        names = options["benchmark"]
        version = None if names or options["explain"] else Version.objects.named(options["version"])
        with packed_folders(rankings) as files:
            if figure := options["explain"]:
                names = names or list(filter(None, [options["version"]]))
                found = explain_figure(figure, files[0], names, parameters, progress=progress)
                return explained_figures(*found) if options["json"] else printed(*found)
            if version is None:
                return _said(evaluate_benchmarks(names, files, parameters, progress=progress), options)
            policies = parameters.policies
            scored = evaluate_version(
                version, rankings=files, model=parameters.model, policies=policies, progress=progress
            )
        if caution := caution_of(version):
            self.stderr.write(caution)
        board = board_from(scored, estimand=estimand_of(version), compare=not policies.leave_interval)
        return _said(board, options, version)


def _check(parameters: EvaluateParameters, rankings: list[Path], options: dict[str, Any]) -> None:
    is_table = options["latex"] or options["csv"]
    if not (options["version"] or options["benchmark"] or options["explain"]):
        raise CounterpartError("Nothing to score on. Pass --version NAME or --benchmark NAME.")
    if parameters.model and len(rankings) != 1:
        raise CounterpartError(f"--model names one file of rankings, not {len(rankings)}. Leave it out.")
    if options["explain"] and (len(rankings) != 1 or is_table):
        raise CounterpartError("--explain takes one file, --rankings FILE, and no --latex or --csv.")
    if options["benchmark"] and not rankings:
        raise CounterpartError("A benchmark has no annotators of its own. Pass --rankings FILE.")
    if options["json"] and options["latex"]:
        raise CounterpartError("--json and --latex are printed alike. Leave one out.")
    check_csv(options["csv"], as_json=options["json"])


def _said(board: Board, options: dict[str, Any], version: Version | None = None) -> str | dict[str, Any]:
    guards = (version and kept_guards(version)) or []
    if options["csv"] and (shown := put_csv(options["csv"], csv_table(board))):
        return shown
    if options["json"]:
        return figures_of(board) | ({"guards": guards} if guards else {})
    if options["latex"]:
        return latex_table(board)
    return "\n\n".join(filter(None, [plain_table(board), guard_table(version) if version and guards else ""]))
