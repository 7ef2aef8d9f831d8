"""Resume a paused round on its platform."""

from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from crowd.outbox import deliver_due
from crowd.pauses import resume_round
from hits.models import Round


class Command(ActCommand):
    help = "Let visitors come to a round on its platform again, as soon as a HIT is left for them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="the round's name")

    def act(self, progress: TerminalBar, **options: Any) -> str:
        round = Round.objects.named(options["round"])
        posting = resume_round(round, actor="resume")
        deliver_due(round, progress=progress)
        posting.refresh_from_db()
        if not posting.wants_visitors:
            return f"Round {round} has no HIT left, so visitors come once there is one."
        if posting.paused_at:
            return f"Round {round} is being resumed; the call is tried again until the platform has taken it."
        return f"Round {round} takes visitors again."
