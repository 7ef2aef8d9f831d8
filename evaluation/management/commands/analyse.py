"""analyse SUBJECT …: print and plot the figures of one analysis, a module of evaluation.analyses."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from evaluation.analyses import Findings, subjects
from mitl.charts import check_chart_path, write_chart


class Command(ActCommand):
    help = "Analyse annotators' results: print the figures of one subject and optionally plot them."

    def add_arguments(self, parser: CommandParser) -> None:
        parsers = parser.add_subparsers(dest="subject", metavar="SUBJECT", required=True)
        for name, subject in subjects().items():
            one = parsers.add_parser(name, help=subject.HELP, description=subject.HELP)
            subject.add_arguments(one)
            one.add_argument("--plot", type=Path, metavar="FILE", help="plot the figures into this .svg or .png file")
            one.add_argument("--json", action="store_true", help="print the figures as JSON")

    def act(self, progress: TerminalBar, **options: Any) -> str | dict[str, Any]:
        plot: Path | None = options["plot"]
        if plot:
            check_chart_path(plot)
        findings: Findings = subjects()[options["subject"]].analyse(progress=progress, **options)
        if plot:
            write_chart(findings.chart, plot)
        return findings.figures if options["json"] else findings.text
