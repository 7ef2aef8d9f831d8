"""The direct door: workers of the channel ``simulation`` lease and submit in this process, without pages."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.models import Assignment, Worker
from annotation.people.admission import join_round
from annotation.people.consent import give_consent
from annotation.people.workers import mark_simulated, worker_for
from annotation.work.answers import Answer
from annotation.work.leases import lease_seat
from annotation.work.submissions import submit_answers
from hits.models import Round
from simulation.doors.base import OwnDoor
from simulation.simulated_workers import Reviewer


class DirectDoor(OwnDoor):
    """The same seed brings back the same workers."""

    def __init__(self, round: Round, reviewer: Reviewer, *, seed: int) -> None:
        super().__init__(round, reviewer)
        self._seed = seed
        self._workers: dict[int, Worker | None] = {}

    def take(self, person: int) -> "DirectTurn | None":
        worker = self._worker(person)
        if worker is None:
            return None
        give_consent(worker, self._round)  # to what the sheet says now
        assignment = lease_seat(self._round, worker=worker)
        return DirectTurn(self, assignment) if assignment else None

    def _worker(self, person: int) -> Worker | None:
        """Return a person as a worker who joined the round; None if it was full."""
        if person not in self._workers:
            name = f"{self._round.name}-{self._seed}-{person}"
            worker = worker_for(channel="simulation", external_id=name)
            mark_simulated(worker)
            self._workers[person] = worker if join_round(self._round, worker) else None
        return self._workers[person]


@dataclass(frozen=True)
class DirectTurn:
    """A leased assignment."""

    door: DirectDoor
    assignment: Assignment
    can_work = True

    @property
    def hit_id(self) -> int:
        return self.assignment.hit_id

    def finish(self, answers: Sequence[Answer], *, seconds: int, rng: np.random.Generator) -> bool:
        submit_answers(self.assignment, answers=answers, active_seconds=seconds)
        return self.door.review(self.assignment.pk, rng)
