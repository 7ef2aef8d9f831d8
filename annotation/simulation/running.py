"""Let a simulated crowd work on a round until nobody can take another HIT."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from django.contrib.auth.models import User

from annotation.simulation.crowd import Person, answer_hit, make_crowd
from annotation.simulation.doors import Door, IntakeDoor, Turn
from annotation.simulation.profiles import DEFAULT, load_profile
from annotation.simulation.through_http import PagesDoor
from annotation.simulation.truth import Seen, default_source, true_levels
from hits.models import Assignment, Round, Seat
from hits.work.deciding import decide
from journal.errors import CounterpartError
from journal.progress import Progress, silent

REVIEWER = "simulated-reviewer"


def simulate_round(
    round: Round,
    *,
    workers: int = 50,
    profile: str | None = None,
    truth: str | None = None,
    seed: int = 0,
    through_http: str | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Have ``workers`` simulated people take and submit HITs of an open round; return counts of what came of it.

    ``profile`` is a preset or file (``annotation.simulation.profiles``), ``truth`` a match source
    (``annotation.simulation.truth``; None: the source ``truth``, else ``original``). Who is free first takes the next
    HIT, so the quick do more. Flagged work is decided by a simulated reviewer as the profile says, and what it
    excludes is done again by others. With ``through_http``, the address of the site, they use its pages;
    without, its leasing and intake. On a fresh round the same arguments give the same answers.

    Raises CounterpartError for a round that is not open, an unknown profile or source, or a bad number.
    """
    if round.state != "open":
        raise CounterpartError(f"Round {round} is {round.state}; publish it before people can work on it.")
    if workers < 1 or seed < 0:
        raise CounterpartError(f"A crowd has at least 1 worker and a seed from 0, not {workers} and {seed}.")
    shape = load_profile(profile or DEFAULT)
    seen = true_levels(round, source=truth or default_source(round.pool.collection), seed=seed)
    door: Door = PagesDoor(round, through_http) if through_http else IntakeDoor(round, seed=seed)
    crowd = Crowd(round, make_crowd(shape, workers=workers, seed=seed), seen, Reviewer(shape.excluded), seed)
    outcomes = crowd.work(door, progress)
    return _summary(round, workers, outcomes)


@dataclass(frozen=True)
class Reviewer:
    """Decides flagged work: the profile's share of it is excluded, the rest counts. All is paid: no program rejects.

    Work without a slip counts always: a control that is wrong itself would be failed by everybody, for ever.
    """

    excluded: float | None

    def decide(self, assignment: Assignment, slips: int, rng: np.random.Generator) -> None:
        """Decide an assignment with wrong controls, ``slips`` of them the worker's fault; leave others to people."""
        flagged, failures = assignment.state == Assignment.State.FLAGGED, assignment.control_failures
        if self.excluded is None or not flagged or not failures:
            return
        counts = not slips or bool(rng.random() >= self.excluded)
        blamed = "Careless work." if not counts else "A slip." if slips else "The control is wrong."
        reason = f"Simulated review, wrong controls: {failures}. {blamed}"
        decide(assignment, votes_count=counts, paid=True, reason=reason, by=_reviewing_user())


@dataclass
class Crowd:
    """People at work on one round: ``seen`` is HIT id → its items and their true levels."""

    round: Round
    people: Sequence[Person]
    seen: Mapping[int, Sequence[Seen]]
    reviewer: Reviewer
    seed: int

    def work(self, door: Door, progress: Progress) -> Counter[str]:
        """Let whoever is free first take a HIT, until nobody finds one; count assignments by their state."""
        numbers = dict(self.round.hits.values_list("pk", "number"))
        wanted = Seat.objects.filter(hit__round=self.round, state=Seat.State.OPEN).count()
        outcomes: Counter[str] = Counter()
        free = [(person.seconds_per_pair, person.index) for person in self.people]
        heapify(free)
        idle: list[int] = []
        while free:
            now, index = heappop(free)
            turn = door.lease(index)
            if turn is None:
                idle.append(index)
                continue
            state, seconds = self._answer(turn, self.people[index], numbers[turn.assignment.hit_id])
            outcomes[state] += 1
            heappush(free, (now + seconds, index))
            if state == Assignment.State.EXCLUDED:
                # The seat is open again, perhaps for somebody who had found nothing.
                while idle:
                    heappush(free, (now + seconds, idle.pop()))
            progress("HITs", outcomes.total() - outcomes[Assignment.State.EXCLUDED], wanted)
        return outcomes

    def _answer(self, turn: Turn, person: Person, number: int) -> tuple[str, int]:
        """Submit one HIT and have it reviewed; return its assignment's state and the seconds it took."""
        rng = np.random.default_rng([self.seed, person.index, number])
        seen = self.seen[turn.assignment.hit_id]
        answers, seconds = answer_hit(person, seen, reasons=self.round.reasons, rng=rng)
        turn.submit(answers, active_seconds=seconds)
        assignment = Assignment.objects.get(pk=turn.assignment.pk)
        slips = sum(item.is_slip(answer.level) for item, answer in zip(seen, answers, strict=True))
        self.reviewer.decide(assignment, slips, rng)
        return str(assignment.state), seconds


def _reviewing_user() -> User:
    user, made = User.objects.get_or_create(username=REVIEWER)
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user


def _summary(round: Round, workers: int, outcomes: Counter[str]) -> dict[str, Any]:
    state = Assignment.State
    submitted = outcomes.total()
    return {
        "workers": workers,
        "submitted": submitted,
        "accepted": outcomes[state.ACCEPTED],
        "excluded": outcomes[state.EXCLUDED],
        "waiting for review": outcomes[state.FLAGGED],
        "share excluded": float(f"{outcomes[state.EXCLUDED] / max(submitted, 1):.4f}"),
        "seats still open": Seat.objects.filter(hit__round=round, state=Seat.State.OPEN).count(),
    }
