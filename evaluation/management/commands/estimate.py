from typing import Any

from core.commands import ActCommand
from core.progress import TerminalBar
from evaluation.analyses.estimates_analysis import EstimatesParameters, analyse


class Command(ActCommand):
    step = "round"
    help = (
        "Estimate the scores of a round's models, with intervals: of a round of --judge audit from its audited "
        "queries, of a finished round from all pairs or, with --audit-share, as if only a part had been judged."
    )

    def act(self, progress: TerminalBar, *, parameters: EstimatesParameters, **options: Any) -> str | dict[str, Any]:
        findings = analyse(parameters, progress=progress)
        return findings.figures if options["json"] else findings.text
