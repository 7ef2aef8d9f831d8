from typing import Any

from core.errors import CounterpartError
from core.progress import TerminalBar
from crowd.calls.outbox import send_waiting
from crowd.sync import sync_round
from hits.models import Round
from hits.round_commands import RoundCommand


class Command(RoundCommand):
    step = "crowd"
    help = "Sync a round with its platform: store new submissions, pay, and post open seats again."

    def act(self, progress: TerminalBar, *, round: Round, **options: Any) -> dict[str, Any]:
        send_waiting(round)
        synced = sync_round(round, progress=progress)
        if synced.listed_nothing:
            raise CounterpartError(f"Nothing could be read from the platform. {synced.failures[0]}")
        return synced.as_figures()
