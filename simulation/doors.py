"""How simulated workers come to their HITs: what a door is, and the one straight to leasing and intake."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from annotation.answers import Answer
from annotation.leases import lease_seat
from annotation.models import Assignment, Worker
from annotation.submissions import submit_answers
from annotation.workers import give_consent, worker_for
from hits.models import Round


class Turn(Protocol):
    """One HIT in a worker's hands."""

    @property
    def assignment(self) -> Assignment:
        """The lease, as it was when it was given."""

    def submit(self, answers: Sequence[Answer], *, active_seconds: int) -> None:
        """Hand in the answers to all items of the HIT."""


class Door(Protocol):
    """Where workers, named by their numbers, come in and get HITs."""

    def lease(self, person: int) -> Turn | None:
        """Give the worker a HIT; None if there is none that they may take now."""


class IntakeDoor:
    """Workers of the channel ``simulation``, in this process. The same seed comes back as the same workers."""

    def __init__(self, round: Round, *, seed: int) -> None:
        self._round, self._seed = round, seed
        self._workers: dict[int, Worker] = {}

    def lease(self, person: int) -> Turn | None:
        assignment = lease_seat(self._round, worker=self._worker(person))
        return DirectTurn(assignment) if assignment else None

    def _worker(self, person: int) -> Worker:
        if person not in self._workers:
            name = f"{self._round.name}-{self._seed}-{person}"
            worker = worker_for(channel="simulation", external_id=name)
            give_consent(worker)
            self._workers[person] = worker
        return self._workers[person]


@dataclass(frozen=True)
class DirectTurn:
    """A leased assignment, submitted through intake."""

    assignment: Assignment

    def submit(self, answers: Sequence[Answer], *, active_seconds: int) -> None:
        submit_answers(self.assignment, answers=answers, active_seconds=active_seconds)
