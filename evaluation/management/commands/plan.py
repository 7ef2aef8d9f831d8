"""plan NAME: what audits would cost and tell, from a round that was judged, or from priors on a pool."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from annotation.money.wages import was_played
from core.commands import ActCommand
from core.progress import TerminalBar
from evaluation.designing.audit_options import (
    AuditOptions,
    Design,
    Terms,
    audit_options,
    cheapest_of,
    first_hits_of,
    front_of,
    terms_of,
)
from evaluation.designing.plan_basis import PlanBasis, Side, basis_of, is_judged, planned_round
from evaluation.designing.predictions import Compared, beside_real, keep_for
from hits.models import Round
from mitl.models import Direction

PARTS = (0.5, 0.8, 0.9, 0.95)
"""Parts of the matches whose judgments are told."""


class Command(ActCommand):
    help = (
        "Plan audits: HITs, cost, hours, matches and the width of the intervals of each design. They rest on the "
        "judgments of a round; for a pool or a round that nobody judged, on priors. Of a round whose prediction was "
        "kept, the prediction is printed beside what it brought."
    )
    figures = True
    parameters = AuditOptions

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="a round, as the pilot: an audit, or a finished round of all pairs; or a pool")
        parser.add_argument("--keep", metavar="ROUND", help="keep what is predicted of this round, which nobody judged")
        super().add_arguments(parser)

    def act(self, progress: TerminalBar, *, parameters: AuditOptions, **options: Any) -> str | dict[str, Any]:
        round = planned_round(options["name"])
        kept = Round.objects.select_related("pool").named(options["keep"]) if options["keep"] else None
        basis = basis_of(round, parameters.prior, merge=parameters.merge, progress=progress)
        terms = terms_of(round, parameters.reward)
        designs = audit_options(basis, terms, grid=parameters.grid)
        found = cheapest_of(designs, parameters.metric, parameters.width) if parameters.width else None
        compared = beside_real(round, basis)
        if kept:
            keep_for(kept, basis, actor="command")
        if options["json"]:
            return _figures(round, basis, terms, designs, found, compared)
        lines = [*_told_basis(round, basis, terms), *_told_designs(designs, basis, terms, parameters.metric)]
        if found:
            lines += ["", "The cheapest that is narrow enough:", _line(found, parameters.metric, is_best=True)]
        lines += _told_comparison(compared)
        if compared and was_played(round):
            lines.append("Programs did some or all of the work: its hours and matches say nothing of people.")
        return "\n".join([*lines, *([f"The prediction is kept with round {kept}."] if kept else [])])


def _figures(
    round: Round,
    basis: PlanBasis,
    terms: Terms,
    designs: Sequence[Design],
    found: Design | None,
    compared: Sequence[Compared],
) -> dict[str, Any]:
    sides = {
        name: asdict(side.outlook.matches) | {"yes": side.yes, "curve": side.curve, "no_curve": side.no_curve}
        for name, side in basis.sides.items()
    }
    return {
        "pilot": None if basis.prior else round.name,
        "pool": round.pool.name,
        "basis": str(basis),
        **({"prior": asdict(basis.prior)} if basis.prior else {}),
        "minutes": terms.seconds / 60,
        "wage": terms.wage,
        "matches": sides,
        "designs": [one.row() for one in designs],
        "first_hits": asdict(first_hits_of(basis, terms)),
        **({"cheapest": found.row()} if found else {}),
        **({"beside_real": [one.row() for one in compared]} if compared else {}),
    }


def _told_basis(round: Round, basis: PlanBasis, terms: Terms) -> Iterator[str]:
    yield f"The plan rests on {basis}."
    judged = round.pool.rounds.exclude(published_at=None).first()
    if basis.prior and judged and is_judged(judged):
        yield f"Round {judged} of this pool is judged: `plan {judged}` rests on its judgments."
    yield (
        f"A HIT pays ${terms.reward} and takes {terms.seconds / 60:.1f} minutes, {terms.source}: ${terms.wage} an hour."
    )
    for name, side in basis.sides.items():
        matches = side.outlook.matches
        yield (
            f"{Direction(name).label}: {matches.value:,.0f} matches among {side.outlook.pairs:,} pairs "
            f"({matches.low:,.0f} to {matches.high:,.0f}). {side.no_curve or _told_curve(side)}"
        )


def _told_curve(side: Side) -> str:
    """Tell the share of the judgments that find the most probable half, and more, of the matches."""
    total = side.curve[-1][1]
    needed = [(part, next(share for share, found in side.curve if found >= part * total)) for part in PARTS]
    told = ", ".join(f"{part:.0%} of them from {share:.0%}" for part, share in needed)
    return f"In the order of their probabilities: {told} of the judgments."


def _told_designs(designs: Sequence[Design], basis: PlanBasis, terms: Terms, metric: str) -> Iterator[str]:
    yield ""
    yield f"Designs; widths are those of the widest 95% interval of {metric}, * marks those that no other beats."
    heads = ("judgments", 10), ("queries", 9), ("HITs", 8), ("cost", 12), ("hours", 8), ("matches", 9), ("width", 8)
    yield f"{'design':<8}" + "".join(f"{head:>{wide}}" for head, wide in heads)
    best = front_of(designs, metric)
    for one in designs:
        yield _line(one, metric, is_best=one in best)
    first = first_hits_of(basis, terms)
    yield (
        f"--judge first-hits asks {first.pairs:,} pairs in {first.hits:,} HITs for ${first.cost:,.2f}: R@1 of the "
        "pool's annotators as from all pairs, nothing else."
    )


def _line(one: Design, metric: str, *, is_best: bool) -> str:
    return (
        f"{one.design:<8}{one.share:>10.0%}{f'× {one.spread:g}':>9}{one.hits:>8,}{f'${one.cost:,.2f}':>12}"
        f"{one.hours:>8,.1f}{one.matches:>9,.0f}{one.widest(metric):>8.3f}{' *' if is_best else ''}"
    )


def _told_comparison(compared: Sequence[Compared]) -> Iterator[str]:
    if compared:
        yield ""
        yield f"{'Predicted beside real':<42}{'predicted':>12}{'real':>12}"
    for one in compared:
        yield f"{one.name:<42}{one.predicted_text:>12}{one.real_text:>12}"
