from typing import Any

from core.commands import argument
from core.progress import TerminalBar
from crowd.calls.outbox import deliver_due
from crowd.posting.halts import halts_of
from crowd.posting.pauses import pause_round, posting_of_whole, resume_round
from hits.models import Round
from hits.round_commands import RoundCommand


class Command(RoundCommand):
    step = "round"
    help = "Admit no new workers to a round, until --resume. Workers who have a HIT or a platform's session go on."
    arguments = (
        argument(
            "--resume",
            action="store_true",
            help="give out the HITs of a paused round again; on a platform, as soon as one is left for visitors",
        ),
    )

    def act(self, progress: TerminalBar, *, round: Round, **options: Any) -> str:
        if options["resume"]:
            round = resume_round(round, actor="resume")
            deliver_due(round, progress=progress)
            halts = [halt.text for halt in halts_of([round])[round.pk]]
            return " ".join([f"Round {round} is resumed.", *halts]) if halts else f"Round {round} gives out HITs again."
        round = pause_round(round, actor="pause")
        deliver_due(round, progress=progress)
        posting = posting_of_whole(round)
        if posting and not posting.paused_at:
            return f"Round {round} is being paused; the call is repeated until the platform accepts it."
        return f"Round {round} is paused: no new worker gets a HIT until pause {round} --resume."
