"""plan NAME: the cost and precision of audits, predicted from a judged round, or from priors on a pool."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.errors import CounterpartError
from core.progress import TerminalBar
from counterpart_statistics.auditing.audit_designs import AuditDesign, front_of
from counterpart_statistics.auditing.model_scores import WHICH
from counterpart_statistics.auditing.plan_basis import DirectionBasis
from evaluation.analyses import text_table
from evaluation.designing.audit_options import AuditOptions
from evaluation.designing.compared_designs import ComparedDesigns, matches_text
from evaluation.designing.predictions import keep_for
from evaluation.designing.round_bases import basis_of, is_judged, planned_round
from hits.models import Round
from mitl.models import Direction

HEADS = ["design", "judgments", "queries", "HITs", "cost", "hours", "matches", "a match", "width", ""]
PARTS = (0.5, 0.8, 0.9, 0.95)
"""Parts of the matches whose judgments are shown."""


class Command(ActCommand):
    step = "round"
    help = (
        "Plan audits: HITs, cost, hours, matches and the width of the intervals of each design. They rest on the "
        "judgments of a round; for a pool or an unjudged round, on priors. Of a round whose prediction was kept, "
        "the prediction is printed next to the real figures."
    )
    figures = True
    parameters = AuditOptions

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="a round, as the pilot: an audit, or a finished round of all pairs; or a pool")
        parser.add_argument(
            "--keep", metavar="ROUND", help="keep the prediction for this round, which is not judged yet"
        )
        super().add_arguments(parser)

    def act(self, progress: TerminalBar, *, parameters: AuditOptions, **options: Any) -> str | dict[str, Any]:
        round = planned_round(options["name"])
        kept = Round.objects.select_related("pool").named(options["keep"]) if options["keep"] else None
        basis = basis_of(round, parameters.prior, merge=parameters.merge, progress=progress)
        compared = ComparedDesigns(round, basis, parameters)
        if parameters.width and compared.cheapest is None:
            raise CounterpartError(
                f"No design of the grid reaches a width of {parameters.width:g}; the least is "
                f"{compared.least_width:.3f}. Wish for a wider interval; --grid compares more designs."
            )
        if kept:
            keep_for(kept, basis, actor="command")
        if options["json"]:
            return _figures(compared)
        lines = [*_basis_lines(compared), *_design_lines(compared), *_real_lines(compared)]
        return "\n".join([*lines, *([f"The prediction is kept with round {kept}."] if kept else [])])


def _figures(compared: ComparedDesigns) -> dict[str, Any]:
    basis = compared.basis
    sides = {
        name: {"pairs": side.outlook.pairs, "yes": side.yes, "curve": side.curve, "no_curve": side.no_curve}
        for name, side in basis.sides.items()
    }
    matches = {name: one for name, one in basis.interval.row().items() if "recall" not in name}
    return {
        "pilot": None if basis.prior else compared.round.name,
        "pool": compared.round.pool.name,
        "basis": str(basis),
        **({"prior": asdict(basis.prior)} if basis.prior else {}),
        "minutes": compared.terms.seconds / 60,
        "wage": compared.terms.wage,
        **matches,
        "directions": sides,
        "designs": [one.row() for one in compared.designs],
        "first_hits": asdict(compared.first_hits),
        **({"cheapest": compared.cheapest.row()} if compared.cheapest else {}),
        **({"beside_real": [one.row() for one in compared.real]} if compared.real else {}),
    }


def _basis_lines(compared: ComparedDesigns) -> Iterator[str]:
    basis = compared.basis
    terms = compared.terms
    yield f"The plan rests on {basis}."
    judged = next(filter(is_judged, compared.round.pool.rounds.all()), None)
    if basis.prior and judged:
        yield f"Round {judged} of this pool is judged: `plan {judged}` rests on its judgments."
    yield (
        f"A HIT pays ${terms.reward} and takes {terms.seconds / 60:.1f} minutes, {terms.source}: ${terms.wage} an hour."
    )
    yield f"{matches_text(basis)} A pair of two queries counts once."
    for name, side in basis.sides.items():
        yield f"{Direction(name).label}: {side.outlook.pairs:,} pairs. {side.no_curve or _curve_text(side)}"


def _curve_text(side: DirectionBasis) -> str:
    """Return the share of the judgments that find the most probable half, and more, of the matches."""
    total = side.curve[-1][1]
    needed = [(part, next(share for share, found in side.curve if found >= part * total)) for part in PARTS]
    shares = ", ".join(f"{part:.0%} of them from {share:.0%}" for part, share in needed)
    return f"In the order of their probabilities: {shares} of the judgments."


def _design_lines(compared: ComparedDesigns) -> Iterator[str]:
    metric = compared.options.metric
    yield ""
    yield (
        f"Designs; widths are those of the widest 95% interval of {metric} for {WHICH[compared.options.queries]}, 0 "
        "where it is counted; * marks those that no other beats."
    )
    best = front_of(compared.designs, metric)
    yield text_table(HEADS, [[*_cells(one, metric), "*" if one in best else ""] for one in compared.designs])
    first = compared.first_hits
    yield (
        f"--judge first-hits asks {first.pairs:,} pairs in {first.hits:,} HITs for ${first.cost:,.2f}: R@1 of the "
        "pool's annotators as from all pairs, nothing else."
    )
    if compared.cheapest:
        yield ""
        yield "The cheapest that is narrow enough:"
        yield text_table(HEADS[:-1], [_cells(compared.cheapest, metric)])


def _cells(one: AuditDesign, metric: str) -> list[str]:
    return [
        one.design,
        f"{one.share:.0%}",
        f"× {one.spread:g}",
        f"{one.hits:,}",
        f"${one.cost:,.2f}",
        f"{one.hours:,.1f}",
        f"{one.matches:,.0f}",
        "-" if one.match_cost is None else f"${one.match_cost:,.2f}",
        f"{one.widest(metric):.3f}",
    ]


def _real_lines(compared: ComparedDesigns) -> Iterator[str]:
    if compared.real:
        yield ""
        rows = [[one.name, one.predicted_text, one.real_text] for one in compared.real]
        yield text_table(["Predicted and real", "predicted", "real"], rows)
    if compared.was_played:
        yield "Programs did some or all of the work: its hours and matches say nothing of people."
