from collections.abc import Collection
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.csv_output import add_csv, check_csv, put_csv
from core.progress import TerminalBar
from evaluation.analyses import Findings, csv_text, helps, parameters_of, subject_named
from mitl.charts.drawing import check_chart_path, write_chart


class Command(ActCommand):
    step = "scores"
    figures = False  # each subject has --json itself
    help = "Analyse annotators, workers and judgments: print the figures of one subject, write them as CSV, plot them."

    typed: Collection[str] = helps()  # the subjects whose options are declared: a shell waits for no other

    def run_from_argv(self, argv: list[str]) -> None:
        self.typed = argv[2:3]
        super().run_from_argv(argv)

    def add_arguments(self, parser: CommandParser) -> None:
        parsers = parser.add_subparsers(dest="subject", metavar="SUBJECT", required=True)
        for name, said in helps().items():
            one = parsers.add_parser(name, help=said, description=said)
            if name in self.typed:
                parameters_of(subject_named(name)).add_options(one)
            one.add_argument(
                "--plot", type=Path, metavar="FILE", help="plot the figures into this .svg, .png or .pdf file"
            )
            add_csv(one, "the figures")
            one.add_argument("--json", action="store_true", help="print the figures as JSON")

    def act(self, progress: TerminalBar, **options: Any) -> str | dict[str, Any]:
        plot = options["plot"]
        table = options["csv"]
        if plot:
            check_chart_path(plot)
        check_csv(table, as_json=options["json"])
        subject = subject_named(options["subject"])
        findings: Findings = subject.analyse(parameters_of(subject).from_options(options), progress=progress)
        if plot:
            write_chart(findings.chart, plot)
        if table and (shown := put_csv(table, csv_text(findings.rows))):
            return shown
        return findings.figures if options["json"] else findings.text
