"""Resume a paused round."""

from typing import Any

from core.progress import TerminalBar
from crowd.calls.outbox import deliver_due
from crowd.posting.halts import halts_of
from crowd.posting.pauses import resume_round
from hits.models import Round
from hits.round_commands import RoundCommand


class Command(RoundCommand):
    step = "round"
    help = "Give out the HITs of a paused round again; on a platform, as soon as one is left for visitors."

    def act(self, progress: TerminalBar, *, round: Round, **options: Any) -> str:
        round = resume_round(round, actor="resume")
        deliver_due(round, progress=progress)
        halts = [halt.text for halt in halts_of([round])[round.pk]]
        return " ".join([f"Round {round} is resumed.", *halts]) if halts else f"Round {round} gives out HITs again."
