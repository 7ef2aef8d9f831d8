"""Rehearse a round on a platform's emulator: people at the workers' site, and our side brought together with it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from heapq import heapify, heappop, heappush

import numpy as np

from annotation.answers import Answer
from annotation.models import Assignment
from core.progress import Progress
from crowd.models import Posting
from crowd.syncing import sync_round
from hits.models import HIT, Round, Seat
from simulation.conduct import Filled, behave, drawn_conduct
from simulation.crowd import Person, answer_hit
from simulation.emulated_site import TURNED_AWAY, EmulatedSite, Task, Visitor, worker_id_of
from simulation.filling import Places, filled_with, places_in
from simulation.profiles import Profile
from simulation.reviewing import Reviewer, review_flagged
from simulation.truth import Seen

SYNC_EVERY = 25  # turns: work is taken in while others are at work, as a worker process would do it
IN_VAIN = 2  # rounds of everybody without a single HIT, after which nothing more can be hoped for


@dataclass
class Rehearsal:
    """People at work on a round at ``site``; ``seen`` is HIT id → its items and their true levels.

    Nobody takes a HIT again that they have had, whatever became of it, so that every rehearsal ends. ``counts`` are
    what happened there: turns turned away, returned, abandoned and submitted twice, forms that the platform refused,
    syncs, and the seconds by which its clock was moved on; ``failures`` are the troubles of the last sync.
    """

    round: Round
    site: EmulatedSite
    people: Sequence[Person]
    profile: Profile
    seen: Mapping[int, Sequence[Seen]]
    seed: int
    progress: Progress
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._worker_ids = [worker_id_of(f"{self.round.name}-{self.seed}-{person.index}") for person in self.people]
        self._visitors: dict[int, Visitor] = {}
        self._had: dict[int, set[int]] = {person.index: set() for person in self.people}
        self._taken: set[str] = set()  # the platform's ids of what it took from this crowd
        self._places: Places = places_in(self.round)
        self._wanted = Seat.objects.filter(hit__round=self.round, state=Seat.State.OPEN).count()

    def work(self) -> None:
        """Let whoever is free first take a HIT, until nobody finds one even after a sync."""
        free = [(person.seconds_per_pair, person.index) for person in self.people]
        in_vain = 0
        while in_vain < IN_VAIN:
            begun = self._shift(free)
            in_vain = 0 if begun else in_vain + 1
            if not self._bring_together() and in_vain:
                return

    def outcomes(self) -> Counter[str]:
        """Count what the platform took from the crowd by the states of its assignments with us; "" for none yet."""
        taken_in = Assignment.objects.filter(hit__round=self.round, platform__external_id__in=self._taken)
        states = Counter[str](taken_in.values_list("state", flat=True))
        states[""] = len(self._taken) - states.total()
        return states

    def _shift(self, free: list[tuple[float, int]]) -> int:
        """Let everybody work until they find no HIT; return how many were begun. ``free``: when, and who."""
        begun, tired = 0, []
        heapify(free)
        while free:
            now, index = heappop(free)
            accepted = self._accept(index)
            if accepted is None:
                tired.append((now, index))
                continue
            heappush(free, (now + self._turn(*accepted, self.people[index]), index))
            begun += 1
            self.progress("HITs", min(len(self._taken), self._wanted), self._wanted)
            if begun % SYNC_EVERY == 0:
                self._sync()
        free.extend(tired)
        return begun

    def _accept(self, index: int) -> tuple[Task, HIT] | None:
        """Have the person take a HIT of the round that they have not had: from their list, or else by its address."""
        visitor = self._visitor(index)
        listed = visitor.offers()
        for posting in self._open_to(index, first=listed) if listed else ():
            offer = listed.get(posting.external_id) or visitor.offer_of(posting.external_id)
            if offer and (task := visitor.accept(offer)):
                self._had[index].add(posting.hit_id)
                return task, posting.hit
        return None

    def _visitor(self, index: int) -> Visitor:
        if index not in self._visitors:
            self._visitors[index] = self.site.visit(self._worker_ids[index])
        return self._visitors[index]

    def _open_to(self, index: int, *, first: Iterable[str]) -> list[Posting]:
        """The postings that wait for somebody, those first that the person's list shows: it shows one of a kind."""
        wanted = Seat.objects.filter(hit__round=self.round, state=Seat.State.OPEN).values("hit")
        live = Posting.objects.filter(hit__in=wanted, state=Posting.State.LIVE)
        postings = live.exclude(hit__in=self._had[index]).select_related("hit").order_by("hit__number", "pk")
        return sorted(postings, key=lambda posting: posting.external_id not in first)

    def _turn(self, task: Task, hit: HIT, person: Person) -> float:
        """Do an accepted HIT as the person's conduct has it; return the seconds that it took them."""
        sheet = task.open()
        if sheet.status in TURNED_AWAY:
            self.counts["turned away"] += 1
            task.give_back()
            return person.seconds_per_pair
        rng = np.random.default_rng([self.seed, person.index, hit.number])
        answers, seconds = answer_hit(person, self.seen[hit.pk], reasons=self.round.reasons, rng=rng)
        conduct, late = drawn_conduct(self.profile, rng), bool(rng.random() < 0.5)
        filled = Filled(task, sheet, self._fields(answers, seconds), self._fields(_others(answers), seconds), late)
        ended = behave(conduct, filled)
        self.counts.update({ended.counted: 1, "refused": ended.refused})
        if ended.taken:
            self._taken.add(task.assignment_id)
        return seconds

    def _fields(self, answers: Sequence[Answer], seconds: int) -> dict[str, str]:
        return filled_with(answers, self._places, active_seconds=seconds)

    def _bring_together(self) -> bool:
        """Sync, review, and let the time of abandoned HITs run out. Whether that may have left work for somebody."""
        asked_for = self._sync()
        reviewer = Reviewer(self.profile.excluded)
        if review_flagged(self.round, self._worker_ids, seen=self.seen, reviewer=reviewer, seed=self.seed):
            asked_for += self._sync()
        abandoned = Posting.objects.filter(hit__round=self.round, settled_at=None, pending__gt=0).exists()
        if abandoned:
            self._let_time_pass(self.site.offer.duration + timedelta(seconds=1))
            asked_for += self._sync()
        return bool(asked_for) or abandoned

    def _let_time_pass(self, time: timedelta) -> None:
        self.site.forward(time)
        self.counts["seconds forward"] += int(time.total_seconds())

    def _sync(self) -> int:
        """Bring the round together with its platform; return how many answer sets were asked for anew."""
        self.counts["syncs"] += 1
        synced = sync_round(self.round, progress=self.progress)
        self.failures = synced.failures
        return synced.asked_for


def _others(answers: Sequence[Answer]) -> list[Answer]:
    """What a second tab of the same person may hold: yes to everything."""
    return [replace(answer, level=1, shortcoming="", wrong_way="") for answer in answers]
