"""Door and Turn, which every way to the HITs has, and what the doors to our own site share."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from annotation.answers import Answer
from annotation.models import Assignment
from hits.models import Item, Round
from simulation.people import Reviewer

State = Assignment.State


class Turn(Protocol):
    """One HIT that a worker has taken. ``can_work``: false if its page turned the worker away."""

    @property
    def hit_id(self) -> int: ...

    @property
    def can_work(self) -> bool: ...

    def finish(self, answers: Sequence[Answer], *, seconds: int, rng: np.random.Generator) -> bool:
        """End the turn with answers to all items of the HIT. Return whether that opened a seat again."""


class Door(Protocol):
    """A way to the HITs of a round. Workers are known by their numbers."""

    @property
    def done(self) -> int:
        """The number of submissions that need no replacement, as far as is known."""

    def take(self, person: int) -> Turn | None:
        """Give the worker a HIT; None if there is none for them now."""

    def wait(self, *, begun: int) -> bool:
        """Called when nobody finds a HIT, after ``begun`` turns. Return whether somebody may find one now."""

    def outcomes(self) -> Counter[str]:
        """Return the number of submissions by the state of their assignments."""

    def report(self) -> dict[str, object]:
        """Return the figures that only this door has."""


class OwnDoor:
    """A door to our own site, where work is graded and reviewed as soon as it is submitted."""

    def __init__(self, reviewer: Reviewer) -> None:
        self._reviewer = reviewer
        self._outcomes: Counter[str] = Counter()

    @property
    def done(self) -> int:
        return self._outcomes.total() - self._outcomes[State.EXCLUDED]

    def wait(self, *, begun: int) -> bool:
        return False

    def outcomes(self) -> Counter[str]:
        return self._outcomes

    def report(self) -> dict[str, object]:
        return {}

    def review(self, assignment_id: int, rng: np.random.Generator) -> bool:
        """Have a submission reviewed. Return whether that opened its seat again."""
        assignment = Assignment.objects.select_related("hit").get(pk=assignment_id)
        self._reviewer.review(assignment, rng)
        self._outcomes[assignment.state] += 1
        return assignment.state == State.EXCLUDED


class AnswerForm:
    """The names of a round's answers in the forms of the judging pages."""

    def __init__(self, round: Round) -> None:
        self._places: Mapping[int, int] = dict(Item.objects.filter(hit__round=round).values_list("pk", "place"))

    def filled(self, answers: Sequence[Answer], *, seconds: int) -> dict[str, str]:
        """Return the form's fields. The site's own clock limits the seconds that it accepts."""
        fields = {"active_seconds": str(seconds)}
        for answer in answers:
            for part in ("level", "shortcoming", "wrong_way"):
                if value := getattr(answer, part):
                    fields[f"{part}-{self._places[answer.item_id]}"] = str(value)
        return fields
