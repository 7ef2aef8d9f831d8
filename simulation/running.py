"""Let a simulated crowd work on a round until nobody can take another HIT."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from annotation.models import Assignment
from core.errors import CounterpartError
from core.progress import Progress, silent
from crowd import channels
from hits.models import Round, Seat
from simulation.crowd import Person, answer_hit, make_crowd
from simulation.doors import Door, IntakeDoor, Turn
from simulation.emulated_site import EmulatedSite
from simulation.profiles import DEFAULT, REHEARSAL, Profile, load_profile
from simulation.rehearsing import Rehearsal
from simulation.reviewing import Reviewer
from simulation.through_http import PagesDoor
from simulation.truth import Seen, default_source, true_levels

LARGEST_CROWD = 10_000


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

    ``profile`` is a preset or file (``simulation.profiles``), ``truth`` a match source
    (``simulation.truth``; None: the source ``truth``, else ``original``). Who is free first takes the next
    HIT, so the quick do more. Flagged work is decided by a simulated reviewer as the profile says, and what it
    excludes is done again by others. With ``through_http``, the address of the site, they use its pages;
    without, its leasing and intake. On a fresh round the same arguments give the same answers.

    A round on a platform's emulator is rehearsed there: people sign in at its workers' site and work in its frame, the
    round is synced on the way, and the emulator's clock is moved on to end the time of HITs that they abandoned.

    Raises CounterpartError for a round that is not open or on a platform where people work for money, an unknown
    profile or source, and a bad number.
    """
    _check_open(round)
    if not 1 <= workers <= LARGEST_CROWD or seed < 0:
        raise CounterpartError(
            f"A crowd has 1 to {LARGEST_CROWD:,} workers and a seed from 0, not {workers:,} and {seed}."
        )
    rehearsed = channels.get(round.channel).is_remote
    site = _emulator_of(round, through_http) if rehearsed else None
    shape = load_profile(profile or (REHEARSAL if rehearsed else DEFAULT))
    seen = true_levels(round, source=truth or default_source(round.pool.collection), seed=seed)
    people = make_crowd(shape, workers=workers, seed=seed)
    if site:
        return _rehearsed(Rehearsal(round, site, people, shape, seen, seed, progress))
    _refuse_misconduct(shape, round)
    door: Door = PagesDoor(round, through_http) if through_http else IntakeDoor(round, seed=seed)
    outcomes = Crowd(round, people, seen, Reviewer(shape.excluded), seed).work(door, progress)
    return _summary(round, workers, outcomes)


def _check_open(round: Round) -> None:
    if round.state == "draft":
        raise CounterpartError(f"Round {round} is a draft; publish it before people can work on it.")
    if round.state != "open":
        raise CounterpartError(f"Round {round} is {round.state}: nobody can work on it any more. Pack another.")


def _emulator_of(round: Round, through_http: str | None) -> EmulatedSite:
    site = EmulatedSite(round)
    if through_http:
        raise CounterpartError(
            f"Round {round} is on {round.channel}, whose site leads to ours; leave --through-http out."
        )
    return site


def _refuse_misconduct(profile: Profile, round: Round) -> None:
    if odd := [name for name, share in profile.misconduct.items() if share]:
        raise CounterpartError(
            f"In the browser pool everybody submits once, so {', '.join(odd)} of the profile cannot happen in round "
            f"{round}; set them to 0, or publish on an emulator."
        )


def _rehearsed(rehearsal: Rehearsal) -> dict[str, Any]:
    rehearsal.work()
    outcomes, counts = rehearsal.outcomes(), rehearsal.counts
    names = ("returned", "abandoned", "submitted twice", "refused", "turned away", "syncs")
    return {
        **_summary(rehearsal.round, len(rehearsal.people), outcomes),
        "not taken in yet": outcomes[""],
        **{name: counts[name] for name in names},
        "hours forward": float(f"{counts['seconds forward'] / 3600:.1f}"),
        "failures": [{"failure": line} for line in rehearsal.failures],
    }


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
