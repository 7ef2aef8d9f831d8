"""What this app asks of crowd platforms. ``crowd`` is imported later, so it registers what answers here."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from annotation.models import Assignment, WantsCall
from core.work.committed_tasks import send_on_commit
from hits.models import Round

MAKE_CALLS = "crowd.tasks.make_wanted_calls"
POST_SEATS = "crowd.tasks.post_seats"


class Means(Enum):
    """How work can be paid."""

    REWARD = "by its reward"
    BONUS = "by a bonus in place of its reward"
    NOTHING = "by nothing more: it was settled elsewhere"


@dataclass(frozen=True)
class Hold:
    """What holds a round up, in one sentence, and the ``command`` that helps, if one does. ``goes_on``: it ends by
    itself; ``by``: who brought it about, where that is known."""

    kind: str
    text: str
    command: str = ""
    by: str = ""
    goes_on: bool = False

    def __str__(self) -> str:
        return f"{self.text} ({self.command})" if self.command else self.text


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

    def check_rejection(self, assignment: Assignment, reason: str) -> None:
        """Raise CounterpartError for work that its platform has paid, and for a reason that is too short for it."""

    def is_undecided(self, assignment: Assignment) -> bool:
        """Whether the platform leaves it to us to decide about the work: it has neither ended nor rejected it."""
        return True

    def means_of_pay(self, assignment: Assignment) -> Means:
        """Return how the work can be paid now. Raises CounterpartError for work that its platform does not know."""
        return Means.REWARD

    def holds(self, round: Round) -> list[Hold]:
        """Return what the platform of the round says of why no new worker comes."""
        return []


postings = Postings()


def want_call(row: WantsCall) -> None:
    """Have the platform called about a row. Use it in the transaction that changes the row."""
    row.call = WantsCall.Call.WANTED
    row.save(update_fields=["call"])
    send_on_commit(MAKE_CALLS)


def want_seats_posted(round: Round) -> None:
    """Have the open seats of a round posted where its channel posts them."""
    if round.settles:
        send_on_commit(POST_SEATS, round.pk)
