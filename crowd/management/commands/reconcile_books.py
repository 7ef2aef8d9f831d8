from typing import Any

from core.commands import argument
from core.progress import TerminalBar
from crowd import channels
from crowd.calls.outbox import deliver_due
from crowd.differences import find_differences, repair
from hits.models import Round
from hits.round_commands import RoundCommand


class Command(RoundCommand):
    step = "crowd"
    help = "List every difference between a round and its platform. A round of the browser pool has none."
    arguments = (
        argument("--repair", action="store_true", help="repair what can be repaired (default: change nothing)"),
    )

    def act(self, progress: TerminalBar, *, round: Round, **options: Any) -> dict[str, Any]:
        on_platform = round.channel in channels.platforms()
        differences = find_differences(round, progress=progress) if on_platform else []
        figures: dict[str, Any] = {"differences": len(differences)}
        if options["repair"]:
            figures["mended"] = repair(round, differences, actor="reconcile_books")
            deliver_due(round, progress=progress)
        return figures | {"platform": [difference.as_figures() for difference in differences]}
