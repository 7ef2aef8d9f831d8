from typing import Any

from core.commands import argument
from core.progress import TerminalBar
from crowd.calls.outbox import deliver_due
from crowd.models import Outbox
from crowd.posting.postings import prolong_postings
from hits.models import Round
from hits.round_commands import RoundCommand


class Command(RoundCommand):
    step = "crowd"
    help = "Keep a round's postings open for longer: also those that expired since the last sync."
    arguments = (
        argument("--days", type=int, required=True, help="days from now until the postings expire"),
        argument("--dry-run", action="store_true", help="only print what it means"),
    )

    def act(self, progress: TerminalBar, *, round: Round, **options: Any) -> dict[str, Any]:
        dry = options["dry_run"]
        prolonging = prolong_postings(round, days=options["days"], actor="prolong", dry=dry)
        if not dry:
            deliver_due(round, progress=progress)
        calls = round.calls.filter(call=Outbox.Call.PROLONG).exclude(state=Outbox.State.DONE)
        return {
            "round": round.name,
            "until": f"{prolonging.until:%Y-%m-%d %H:%M %Z}",
            "postings to prolong" if dry else "postings": prolonging.postings,
            "answer sets open in them": prolonging.open,
            "of these offered again": prolonging.reopened,
            "set aside again": str(prolonging.cost),
            "calls waiting or failed": calls.count(),
            "failures": [{"failure": error} for error in sorted(set(calls.values_list("error", flat=True)) - {""})],
        }
