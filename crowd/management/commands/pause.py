"""Pause a round."""

from typing import Any

from core.progress import TerminalBar
from crowd.calls.outbox import deliver_due
from crowd.posting.pauses import pause_round, posting_of_whole
from hits.models import Round
from hits.round_commands import RoundCommand


class Command(RoundCommand):
    step = "round"
    help = "Admit no new workers to a round until resume. Workers who have a HIT or a platform's session go on."

    def act(self, progress: TerminalBar, *, round: Round, **options: Any) -> str:
        round = pause_round(round, actor="pause")
        deliver_due(round, progress=progress)
        posting = posting_of_whole(round)
        if posting and not posting.paused_at:
            return f"Round {round} is being paused; the call is repeated until the platform accepts it."
        return f"Round {round} is paused: no new worker gets a HIT until resume."
