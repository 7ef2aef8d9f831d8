"""Let workers into a round of the browser pool: they join, pass its test, and take no more HITs than they may."""

from dataclasses import dataclass

from django.db import transaction

from annotation.models import Exclusion, Participant, Worker
from annotation.qualifying import Tries, tries_of
from annotation.seen import hits_of
from annotation.workers import actor_of
from core.errors import CounterpartError
from core.events import record
from hits.models import Round


class NotAdmittedError(CounterpartError):
    """The worker may not take HITs of this round."""


@dataclass(frozen=True)
class Permit:
    """What a worker may do in a round: ``left`` HITs may still be taken (None: any number); ``tries`` at its test, if
    it has one."""

    excluded: bool
    left: int | None
    tries: Tries | None

    @property
    def needs_test(self) -> bool:
        return self.tries is not None and not self.tries.passed

    @property
    def failed(self) -> bool:
        """Whether the test was not passed and cannot be tried again."""
        return self.tries is not None and not self.tries.passed and not self.tries.left

    @property
    def is_over(self) -> bool:
        """Whether the worker can take no HIT any more, whatever comes."""
        return self.excluded or self.failed or self.left == 0


def permit_of(round: Round, worker: Worker) -> Permit:
    """Return what the worker may do in the round, full or not."""
    return Permit(
        excluded=is_excluded(worker),
        left=_left(round, worker),
        tries=tries_of(round.test, worker) if round.test else None,
    )


def is_excluded(worker: Worker) -> bool:
    """Whether the worker gets no more HITs from us."""
    return Exclusion.objects.filter(worker=worker, lifted_at=None).exists()


def has_joined(round: Round, worker: Worker) -> bool:
    return Participant.objects.filter(round=round, worker=worker).exists()


def is_full(round: Round) -> bool:
    """Whether nobody else may join the round."""
    return round.capacity is not None and round.participants.count() >= round.capacity


def join_round(round: Round, worker: Worker) -> bool:
    """Count the worker among those who joined the round; who did before stays so. False: the round is full."""
    with transaction.atomic():
        if round.capacity is not None:
            # Those who join stand in line, or the last place would be taken twice.
            Round.objects.select_for_update(no_key=True).get(pk=round.pk)
        if has_joined(round, worker):
            return True
        if is_full(round):
            return False
        participant, created = Participant.objects.get_or_create(round=round, worker=worker)
        if created:
            record("joined", participant, actor=actor_of(worker), round=round.name)
    return True


def admit(round: Round, worker: Worker) -> bool:
    """Whether the worker may take one more HIT of the round; to be called while they are locked.

    False: the round is full, or they have had as many HITs as one worker may. Raises NotAdmittedError for a worker who
    is excluded, and before the round's test is passed.
    """
    if is_excluded(worker):
        raise NotAdmittedError(f"Worker {worker} is excluded from our rounds; lift that before giving out work.")
    if round.test and not tries_of(round.test, worker).passed:
        raise NotAdmittedError(f"Worker {worker} has not passed the test {round.test} of round {round} yet.")
    return has_room(round, worker) and (round.capacity is None or join_round(round, worker))


def has_room(round: Round, worker: Worker) -> bool:
    """Whether the worker has had fewer HITs of the round than one worker may."""
    return _left(round, worker) != 0


def _left(round: Round, worker: Worker) -> int | None:
    if round.per_worker is None:
        return None
    return max(0, round.per_worker - hits_of(worker).filter(hit__round=round).count())
