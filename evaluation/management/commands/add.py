from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from evaluation.asking.planned_top_ups import add_planned
from evaluation.asking.round_top_ups import ACTS, chosen_act
from evaluation.scores.runs import register_file
from hits.models import Round


class Command(ActCommand):
    step = "round"
    help = (
        "Add HITs to a round, once --yes says so: for the first items of registered models that it has not asked, as "
        "items that no annotator of its pool found count as no match. With --audit-share, for the next queries of an "
        "audit; with --likely, for the pairs that are most likely matches; with --reject-below, for a random sample of "
        "unlikely pairs, which the round then rejects; with --again, for further votes on doubtful pairs; with "
        "--twice, for a second vote on pairs drawn at random. Without --yes, pairs, HITs and cost are printed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="an audit, a round of first hits or of all pairs, that is not closed")
        acts = parser.add_mutually_exclusive_group()
        for act in ACTS:
            act.add_options(acts)
        parser.add_argument(
            "--rankings", type=Path, nargs="+", default=[], metavar="FILE", help="rankings to register first"
        )
        parser.add_argument(
            "--yes", "--add", dest="add", action="store_true", help="add the HITs; without it nothing is asked"
        )

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        round = Round.objects.select_related("pool__collection").named(options["round"])
        for path in options["rankings"]:
            register_file(round.pool.collection, path, progress=progress)
        planned = chosen_act(options).plan(round, progress=progress)
        if options["add"]:
            add_planned(planned, actor="command")
        return {
            "round": round.name,
            **planned.figures,
            "pairs": planned.pairs,
            "hits": planned.plan.n_hits,
            "assignments": planned.plan.n_hits * planned.seats,
            "cost": planned.cost,
            "added" if options["add"] else "would_add": planned.plan.n_hits,
        }
