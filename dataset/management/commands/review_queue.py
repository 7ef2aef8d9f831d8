from typing import Any

from core.errors import CounterpartError
from core.progress import TerminalBar
from dataset.reviews.cases import check_queue, refresh_queue
from hits.models import Round
from hits.round_commands import RoundCommand


class Command(RoundCommand):
    step = "review"
    help = (
        "Bring the reviewers' queue of a round's collection up to date and print its counts. Fails if a pair of the "
        "round without a majority is missing from the queue."
    )
    figures = True

    def act(self, progress: TerminalBar, *, round: Round, **options: Any) -> dict[str, Any]:
        counts = refresh_queue(round.pool.collection)
        if not check_queue(round):
            raise CounterpartError(
                f"The queue does not show every pair of {round} without a majority. Do not rely on it; report this "
                "with the round's events."
            )
        return counts
