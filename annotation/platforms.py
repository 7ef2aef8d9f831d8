"""What this app asks of crowd platforms. ``crowd`` is imported later, so it registers what answers here."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from functools import partial

from celery import current_app
from django.db import transaction

from annotation.models import Assignment, WantsCall
from hits.models import Round

MAKE_CALLS = "crowd.tasks.make_wanted_calls"
POST_SEATS = "crowd.tasks.post_seats"


class Postings:
    """What is known of the HITs posted on platforms. This one knows of none; ``crowd`` registers one that does."""

    def answer_sets_due(self, rounds: Sequence[Round]) -> dict[int, tuple[int, int]]:
        """Return for each round how many answer sets its platform holds money for, and how many more are wanted that
        the platform does not know of yet."""
        return {round.pk: (0, 0) for round in rounds}

    def seats_without_posting(self, rounds: Sequence[Round]) -> Counter[int]:
        """Count for each round the open seats for which no answer set is coming."""
        return Counter()

    def reversible_until(self, assignment: Assignment) -> datetime | None:
        """Return until when the platform reverses a rejection of the work; None without a limit."""
        return None

    def shortest_reason(self, assignment: Assignment) -> int:
        """Return how many characters the reason of a rejection must have."""
        return 1

    def can_pay_reward(self, assignment: Assignment) -> bool:
        """Whether the posting of the work is still there, so that the platform can pay a reward for it."""
        return True


postings = Postings()


def want_call(row: WantsCall) -> None:
    """Have the platform told of a row. Call it in the transaction that changes the row."""
    row.call = WantsCall.Call.WANTED
    row.save(update_fields=["call"])
    _send(MAKE_CALLS)


def want_seats_posted(round: Round) -> None:
    """Have the open seats of a round posted where its channel posts them."""
    if round.settles:
        _send(POST_SEATS, round.pk)


def _send(task: str, *args: int) -> None:
    # Robust: the change is committed. A failure here is logged, and crowd's periodic task finds the rows.
    transaction.on_commit(partial(current_app.signature(task, args=args).apply_async), robust=True)
