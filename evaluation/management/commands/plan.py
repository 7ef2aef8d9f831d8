"""plan PILOT: what audits would cost and tell, from a round that was judged."""

from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from evaluation.audit_options import AuditOptions, Design, audit_options
from hits.models import Round


class Command(ActCommand):
    help = (
        "Plan audits from a pilot, a round that was judged whole or in part: HITs, cost, hours, matches and the width "
        "of the intervals of each design."
    )
    figures = True
    parameters = AuditOptions

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("pilot", help="name of a round that is judged: an audit, or a finished round of all pairs")
        super().add_arguments(parser)

    def act(self, progress: TerminalBar, *, parameters: AuditOptions, **options: Any) -> str | dict[str, Any]:
        pilot = Round.objects.select_related("pool").named(options["pilot"])
        designs, found = audit_options(pilot, parameters, progress=progress)
        if options["json"]:
            rows = {"pilot": pilot.name, "designs": [one.row() for one in designs]}
            return rows | ({"cheapest": found.row()} if found else {})
        lines = [
            f"Designs for the pool of {pilot}; widths are those of the widest 95% interval of {parameters.metric}.",
            f"{'design':<8}{'judgments':>10}{'queries':>9}{'HITs':>8}{'cost':>12}{'hours':>8}{'matches':>9}{'width':>8}",
            *(_line(one, parameters.metric) for one in designs),
        ]
        if found:
            lines += ["", "The cheapest that is narrow enough:", _line(found, parameters.metric)]
        return "\n".join(lines)


def _line(one: Design, metric: str) -> str:
    return (
        f"{one.design:<8}{one.share:>10.0%}{f'× {one.spread:g}':>9}{one.hits:>8,}{f'${one.cost:,.2f}':>12}"
        f"{one.hours:>8,.1f}{one.matches:>9,.0f}{one.widest(metric):>8.3f}"
    )
