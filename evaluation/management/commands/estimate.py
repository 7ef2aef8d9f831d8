"""estimate ROUND: the scores of its models from the queries that were judged whole, with intervals."""

from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from core.text import counted
from evaluation.round_estimates import FEW, EstimateParameters, ModelEstimate, estimate_round
from hits.models import Round
from mitl.models import Direction


class Command(ActCommand):
    help = (
        "Estimate the scores of a round's models, with intervals: of a round of --judge audit from its audited "
        "queries, of a finished round from all pairs or, with --audit-share, as if only a part had been judged."
    )
    figures = True
    parameters = EstimateParameters

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="name of the round")
        super().add_arguments(parser)

    def act(self, progress: TerminalBar, *, parameters: EstimateParameters, **options: Any) -> str | dict[str, Any]:
        round = Round.objects.select_related("pool").named(options["round"])
        found = estimate_round(round, parameters, progress=progress)
        if options["json"]:
            return {"round": round.name, "estimates": [one.row() for one in found]}
        sides = [[one for one in found if one.direction == direction] for direction in Direction]
        return "\n\n".join("\n".join(_table(side)) for side in sides if side)


def _table(rows: list[ModelEstimate]) -> list[str]:
    one = rows[0]
    kind = "Counted" if one.counted else "Estimated"
    queries = counted(one.estimate.n_audited, "query", "queries")
    lines = [
        f"{one.direction.label}: {kind.lower()} of the {one.estimate.estimand} from {queries} judged whole, "
        f"{one.judged:.0%} of the pairs."
    ]
    if one.missing:
        lines.append(
            f"{counted(one.missing, 'drawn query lacks', 'drawn queries lack')} verdicts: the intervals hold for the "
            "worst they may get."
        )
    if one.estimate.n_audited < FEW:
        lines.append(f"Fewer than {FEW} queries: intervals may hold the truth less often than they say.")
    width = max(len(row.model) for row in rows)
    for row in rows:
        figure = row.estimate
        lines.append(
            f"  {row.model:<{width}}  {row.metric:<12} {figure.value:.3f}  [{figure.low:.3f}, {figure.high:.3f}]"
        )
    return lines
