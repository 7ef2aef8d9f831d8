"""Pause a round."""

from typing import Any

from core.progress import TerminalBar
from crowd.calls.outbox import deliver_due
from crowd.posting.pauses import pause_round, posting_of_whole
from hits.models import Round
from hits.round_commands import RoundCommand


class Command(RoundCommand):
    help = "Give nobody new a HIT of a round until resume. Whoever has one, or a session of a platform, goes on."

    def act(self, progress: TerminalBar, *, round: Round, **options: Any) -> str:
        round = pause_round(round, actor="pause")
        deliver_due(round, progress=progress)
        posting = posting_of_whole(round)
        if posting and not posting.paused_at:
            return f"Round {round} is being paused; the call is tried again until the platform has taken it."
        return f"Round {round} is paused: nobody new is given a HIT until resume."
