"""plan_top_up ROUND: what it costs to score further models by a round or to continue its audit, and the HITs."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from evaluation.asking.round_top_ups import PlannedTopUp, TopUpParameters, add_planned, plan_top_up
from evaluation.scores.runs import register_file
from hits.models import Round


class Command(ActCommand):
    help = (
        "Plan HITs for the first items of registered models that a round has not asked: without them, items that no "
        "annotator of its pool found count as no match. With --audit-share, for the next queries of an audit; with "
        "--likely, for the pairs that are most likely matches; with --reject-below, for a random sample of unlikely "
        "pairs, all of which the round then rejects; with --again, for further votes on doubtful pairs. "
        "Prints pairs, HITs and cost; --add adds the HITs."
    )
    figures = True
    parameters = TopUpParameters

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="an audit, a round of first hits or of all pairs, that is not closed")
        super().add_arguments(parser)
        parser.add_argument(
            "--rankings", type=Path, nargs="+", default=[], metavar="FILE", help="rankings to register first"
        )
        parser.add_argument("--add", action="store_true", help="add the HITs; without it nothing is asked")

    def act(self, progress: TerminalBar, *, parameters: TopUpParameters, **options: Any) -> dict[str, Any]:
        round = Round.objects.select_related("pool__collection").named(options["round"])
        for path in options["rankings"]:
            register_file(round.pool.collection, path, progress=progress)
        planned = plan_top_up(round, parameters, progress=progress)
        if options["add"]:
            add_planned(planned, actor="command")
        return {
            "round": round.name,
            **_purpose(planned),
            "pairs": planned.pairs,
            "hits": planned.plan.n_hits,
            "assignments": planned.plan.n_hits * planned.seats,
            "cost": planned.cost,
            "added" if options["add"] else "would_add": planned.plan.n_hits,
        }


def _purpose(planned: PlannedTopUp) -> dict[str, Any]:
    if planned.again:
        return planned.again.figures
    if planned.zone:
        return {"reject_below": planned.zone.below, "pairs_to_reject": len(planned.zone.pairs)}
    if planned.batch is None or planned.likely is None or planned.width is None:
        return {"models": ", ".join(planned.models)} if planned.runs else {"audit_share": planned.audit_share}
    return {
        "recall_so_far": round(planned.likely.recall, 3),
        "widest_interval": round(planned.width, 4),
        "queries_closed": int(planned.likely.closed.sum()),
        "queries": len(planned.likely.closed),
        "matches_to_expect": round(planned.batch.matches, 1),
    }
