"""A simulated crowd works on a round until no worker finds another HIT."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from annotation.models import Assignment, Worker
from annotation.work.judgments import answers_in
from annotation.work.standstill import waits_for
from core.errors import CounterpartError
from core.progress import Progress, silent
from core.seeds import check_seed
from core.text import counted
from hits.models import Round, Seat
from hits.task_types import task_type_of
from simulation.doors.base import Door, Turn
from simulation.doors.direct import DirectDoor, PagesDoor
from simulation.doors.platform_door import PlatformDoor, site_of
from simulation.profiles import DEFAULT, Profile, load_profile
from simulation.simulated_workers import Person, Reviewer, answer_hit, make_crowd
from simulation.truth import Seen, default_source, true_levels

LARGEST_CROWD = 10_000


NOTE = (
    "Simulated votes stay in the round and are marked on its pages and in every version and export. Once people have "
    "taken HITs, simulate refuses the round unless --among-people is passed."
)


def simulate_round(
    round: Round,
    *,
    workers: int = 50,
    profile: str | None = None,
    truth: str | None = None,
    seed: int = 0,
    through_http: str | None = None,
    among_people: bool = False,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Let ``workers`` simulated people take and submit HITs of an open round; return figures of the outcome.

    ``profile`` is a preset or file (``simulation.profiles``), ``truth`` a match source (``simulation.truth``; None: the
    one whose rankings are asked about, the source ``truth``, otherwise ``original``). The worker who is free first
    takes the next HIT, so fast workers do more. A simulated reviewer decides flagged work as the profile says; others
    do again what is excluded; sentences are left to people.
    ``through_http`` is the address of the running site, whose pages the workers then use. On a fresh round, equal
    arguments give equal answers.

    A round on a platform's emulator is rehearsed there: workers use its site, the round is synced as they work, and the
    emulator's clock is moved on to end the time of HITs that they abandon.

    The workers are marked as simulated, and so are their votes in every release. Raises CounterpartError for a round
    that is not open or is on a platform where people work for money, one in which people took HITs unless
    ``among_people``, an unknown profile or source, a followed annotator that is not of the pool, and invalid numbers.
    """
    _check(round)
    check_crowd(workers, seed)
    _check_people(round, among_people)
    site = site_of(round) if round.settles else None
    if site and through_http:
        raise CounterpartError(f"Round {round} is on {round.channel}, whose site is used. Leave --through-http out.")
    shape = load_profile(profile or (site.profile if site else DEFAULT))
    source = truth or round.summary.get("positives_of") or default_source(round.pool.collection)
    truth_of = partial(true_levels, round, source=source, seed=seed, followed=shape.followed)
    seen = truth_of()
    people = make_crowd(shape, workers=workers, seed=seed)
    reviewer = Reviewer(shape.excluded, seen)
    door: Door
    if site:
        door = PlatformDoor(round, site, shape, reviewer, seed=seed, progress=progress)
    else:
        _check_conduct(shape, round)
        own = PagesDoor(round, reviewer, site=through_http) if through_http else None
        door = own or DirectDoor(round, reviewer, seed=seed)
    Crowd(round, door, people, seen, truth_of, seed, progress).work()
    return _figures(round, workers, door)


def _check(round: Round) -> None:
    if round.state == "draft":
        raise CounterpartError(f"Round {round} is a draft. Publish it before people can work on it.")
    if round.state != "open":
        raise CounterpartError(f"Round {round} is {round.state}, and only open rounds take work. Pack another.")
    if round.paused_at:
        raise CounterpartError(f"Round {round} is paused. Resume it first.")


def check_crowd(workers: int, seed: int) -> None:
    """Raise CounterpartError for an invalid number of workers or seed."""
    if not 1 <= workers <= LARGEST_CROWD:
        raise CounterpartError(f"Invalid number of workers {workers:,}: use 1 to {LARGEST_CROWD:,}.")
    check_seed(seed)


def _check_people(round: Round, among_people: bool) -> None:
    people = Worker.objects.filter(assignments__hit__round=round, simulated=False).distinct().count()
    if people and not round.rehearsal and not among_people:
        raise CounterpartError(
            f"{counted(people, 'person', 'people')} took HITs of round {round}. Simulated votes would count "
            "with theirs and stay marked as simulated in every release. Pack another round to simulate, or pass "
            "--among-people."
        )


def _check_conduct(profile: Profile, round: Round) -> None:
    if odd := [name for name, share in profile.misconduct.items() if share]:
        raise CounterpartError(
            f"Round {round} is in the browser pool, where everybody submits once, so the profile's {', '.join(odd)} "
            "cannot happen. Set them to 0, or publish on an emulator."
        )


@dataclass
class Crowd:
    """People who work on one round through one door. ``seen`` is HIT id → its items and their true levels, as
    ``truth_of`` reads them."""

    round: Round
    door: Door
    people: Sequence[Person]
    seen: dict[int, list[Seen]]
    truth_of: Callable[[], dict[int, list[Seen]]]
    seed: int
    progress: Progress

    def __post_init__(self) -> None:
        self._numbers = dict(self.round.hits.values_list("pk", "number"))
        self._wanted = Seat.objects.filter(round=self.round, state=Seat.State.OPEN).count()

    def work(self) -> None:
        """Let the person who is free first take a HIT, until no person finds one and waiting brings no more."""
        free = [(person.seconds_per_pair, person.index) for person in self.people]
        while free:
            begun, free = self._shift(free)
            if not self.door.wait(begun=begun):
                return

    def _shift(self, free: list[tuple[float, int]]) -> tuple[int, list[tuple[float, int]]]:
        """Let all people work until none finds a HIT. ``free``: when each person is free, and who. Return the number
        of turns, and when each person found nothing more."""
        begun = 0
        idle = []
        heapify(free)
        while free:
            now, index = heappop(free)
            turn = self.door.take(index)
            if turn is None:
                idle.append((now, index))
                continue
            begun += 1
            seconds, reopened = self._answer(turn, self.people[index])
            heappush(free, (now + seconds, index))
            if reopened:  # perhaps for a person who had found nothing
                for _, waiting in idle:
                    heappush(free, (now + seconds, waiting))
                idle.clear()
            self.progress("HITs", min(self.door.done, self._wanted), self._wanted)
        return begun, idle

    def _answer(self, turn: Turn, person: Person) -> tuple[float, bool]:
        """Complete one turn; return its seconds, and whether it opened a seat again."""
        if not turn.can_work:
            return person.seconds_per_pair, False
        if turn.hit_id not in self.seen:  # added since for disputed pairs
            self.seen.update(self.truth_of())
            self._numbers.update(self.round.hits.values_list("pk", "number"))
        rng = np.random.default_rng([self.seed, person.index, self._numbers[turn.hit_id]])
        answers, seconds = answer_hit(
            person, self.seen[turn.hit_id], task=task_type_of(self.round), reasons=self.round.reasons, rng=rng
        )
        return seconds, turn.finish(answers, seconds=seconds, rng=rng)


def _figures(round: Round, workers: int, door: Door) -> dict[str, Any]:
    state = Assignment.State
    outcomes = door.outcomes()
    submitted = outcomes.total()
    votes = answers_in(round)
    simulated = votes.simulated().count()
    return {
        "workers": workers,
        "submitted": submitted,
        "accepted": outcomes[state.ACCEPTED],
        "excluded": outcomes[state.EXCLUDED],
        "waiting for review": outcomes[state.FLAGGED],
        "share excluded": float(f"{outcomes[state.EXCLUDED] / max(submitted, 1):.4f}"),
        "seats still open": Seat.objects.filter(round=round, state=Seat.State.OPEN).count(),
        "waits for": waits_for(round),
        "simulated votes": simulated,
        "people's votes": votes.count() - simulated,
        "note": NOTE,
        **door.report(),
    }
