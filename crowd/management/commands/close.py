from typing import Any

from annotation.models import Assignment
from annotation.work.standing import standing_of
from crowd.posting.publication import close_round
from hits.models import Round
from hits.round_commands import RoundCommand


class Command(RoundCommand):
    step = "round"
    help = (
        "Close a round: no seat is leased any more, but leased ones may still be submitted. A draft can be closed once "
        "it has judgments that were given elsewhere."
    )

    def act(self, *, round: Round, **options: Any) -> str:
        round = close_round(round, actor="close")
        standing = standing_of(round)
        still = standing.work[Assignment.State.LEASED]
        return (
            f"Round {round} is closed with {standing.filled} of {standing.wanted} seats filled; {still} still leased."
        )
