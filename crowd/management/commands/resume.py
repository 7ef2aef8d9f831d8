"""Resume a paused round."""

from typing import Any

from core.progress import TerminalBar
from crowd.outbox import deliver_due
from crowd.pauses import posting_of_whole, resume_round
from hits.models import Round
from hits.round_commands import RoundCommand


class Command(RoundCommand):
    help = "Give out the HITs of a paused round again; on a platform, as soon as one is left for visitors."

    def act(self, progress: TerminalBar, *, round: Round, **options: Any) -> str:
        round = resume_round(round, actor="resume")
        deliver_due(round, progress=progress)
        posting = posting_of_whole(round)
        if posting and not posting.wants_visitors:
            return f"Round {round} has no HIT left, so visitors come once there is one."
        if posting and posting.paused_at:
            return f"Round {round} is being resumed; the call is tried again until the platform has taken it."
        return f"Round {round} gives out HITs again."
