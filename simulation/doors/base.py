"""The protocols Door and Turn of every way to the HITs, and what the doors to our own site share."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol
from urllib.parse import urlsplit

import numpy as np
from django.core.signing import BadSignature
from django.urls import Resolver404, ResolverMatch, resolve

from annotation.judging.links import read_assignment_token
from annotation.models import Assignment
from annotation.work.answers import Answer, places_of
from annotation.work.disputes import top_up
from core.errors import CounterpartError
from evaluation.asking.greedy_rounds import ask_likely_matches
from hits.models import Round
from simulation.http_browser import Page
from simulation.simulated_workers import Reviewer


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
        """The number of submissions that, so far, need no replacement."""

    def take(self, person: int) -> Turn | None:
        """Give the worker a HIT; None if there is none for them now."""

    def wait(self, *, begun: int) -> bool:
        """Called when no worker finds a HIT, after ``begun`` turns. Return whether one may be found now."""

    def outcomes(self) -> Counter[str]:
        """Return the number of submissions by the state of their assignments."""

    def report(self) -> dict[str, object]:
        """Return the figures that only this door has."""


class OwnDoor:
    """A door to our own site, where work is graded and reviewed as soon as it is submitted."""

    def __init__(self, round: Round, reviewer: Reviewer) -> None:
        self._round = round
        self._reviewer = reviewer
        self._outcomes: Counter[str] = Counter()
        self._flagged: list[int] = []

    @property
    def done(self) -> int:
        return self._outcomes.total() - self._outcomes[Assignment.State.EXCLUDED]

    def wait(self, *, begun: int) -> bool:
        """Ask for further votes on disputed pairs, and for likely matches, as the reconciler would."""
        return top_up(self._round, actor="simulation") > 0 or ask_likely_matches(self._round, actor="simulation") > 0

    def outcomes(self) -> Counter[str]:
        """Read the states again: a flag may have been removed since, because its control was retired."""
        flagged = Assignment.objects.in_bulk(self._flagged)
        now = Counter(assignment.state for assignment in flagged.values())
        return self._outcomes - Counter({Assignment.State.FLAGGED: len(flagged)}) + now

    def report(self) -> dict[str, object]:
        return {}

    def review(self, assignment_id: int, rng: np.random.Generator) -> bool:
        """Have a submission reviewed. Return whether that opened its seat again."""
        assignment = Assignment.objects.select_related("hit").get(pk=assignment_id)
        self._reviewer.review(assignment, rng)
        self._outcomes[assignment.state] += 1
        if assignment.state == Assignment.State.FLAGGED:
            self._flagged.append(assignment_id)
        return assignment.state == Assignment.State.EXCLUDED


def form_of(assignment: Assignment, answers: Sequence[Answer], *, seconds: int) -> dict[str, str]:
    """Return the fields of the judging page's form. The site's own clock limits the seconds that it accepts."""
    place_of = {item: place for place, item in places_of(assignment).items()}
    fields = {"active_seconds": str(seconds)}
    for answer in answers:
        for part in ("level", "shortcoming", "wrong_way", "text"):
            if value := getattr(answer, part):
                fields[f"{part}-{place_of[answer.item_id]}"] = str(value)
    return fields


def hit_page(page: Page) -> Page:
    """Return the page of a HIT at the HIT's own address, which its form names; any other page as it is."""
    forms = [form for form in page.forms if form.get("id") == "judging"]
    return Page(forms[0].action, page.html, page.status) if forms else page


def view_of(page: Page) -> ResolverMatch:
    """Return which of our views answered. Raises CounterpartError for a page of another site."""
    try:
        return resolve(urlsplit(page.url).path)
    except Resolver404 as error:
        raise CounterpartError(
            f"The site led to {page.url}, which is not a Counterpart page. Check the address."
        ) from error


def assignment_of(page: Page) -> Assignment:
    """Return the assignment whose page it is. Raises CounterpartError where it is not in this database."""
    assignment = None
    with suppress(BadSignature):
        assignment = read_assignment_token(view_of(page).kwargs["token"])
    if assignment is None:
        raise CounterpartError("The site uses another database or secret key. Simulate on its machine.")
    return assignment
