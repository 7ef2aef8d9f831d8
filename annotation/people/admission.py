"""Admission: who may join a round of the browser pool, by which invitation, take how many of its HITs, and which pairs
they have seen."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from annotation.models import (
    CLAIM,
    Admission,
    Assignment,
    AssignmentQuerySet,
    Exclusion,
    Invitation,
    Participant,
    Pause,
    Payment,
    QualificationTest,
    TestAttempt,
    TestItem,
    Worker,
)
from annotation.people.qualification_tests import Tries, tries_of
from annotation.people.workers import actor_of
from core import clock
from core.database.fixed_queries import FixedQuery
from core.errors import CounterpartError, some_of
from core.events import record
from core.text import counted
from hits.models import Item, Round
from hits.task_types import TASK_TYPES

MOST = 1_000_000
BRAKE = 3  # answer sets in a row that wait for a person, with which a worker gets no more HITs
WRITING = [one.name for one in TASK_TYPES.values() if one.writes]  # all of whose answers a person reads

Pairs = set[tuple[int | None, int | None]]
"""Keys of an image and a caption; None in HITs and tests that show only one of them, or neither."""


class NotAdmittedError(CounterpartError):
    """The worker may not take HITs of this round."""


@dataclass(frozen=True)
class Permit:
    """What a worker may do in a round: ``left`` HITs may still be taken (None: any number); ``tries`` at its test, if
    it has one."""

    excluded: bool
    paused: bool
    waits: bool
    """Whether their last answer sets all wait for a person: the next HIT comes once one is decided."""
    has_lease: bool
    """Whether they have leased a HIT of the round, perhaps past its deadline."""
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


def make_admission(
    *,
    capacity: int | None = None,
    per_worker: int | None = None,
    test: QualificationTest | None = None,
    practice: QualificationTest | None = None,
    invited: bool = False,
) -> Admission:
    """Return an admission for a round to be published.

    Raises CounterpartError for limits out of range, and for a practice with pairs of the test, as it shows the answers.
    """
    for name, wanted in {"capacity": capacity, "per_worker": per_worker}.items():
        if wanted is not None and not 1 <= wanted <= MOST:
            raise CounterpartError(f"Invalid {name} {wanted}: use 1 to {MOST:,}, or leave it out for no limit.")
    if test and practice and (shared := _shown(test) & _shown(practice)):
        raise CounterpartError(
            f"{counted(len(shared), 'item')} of the test {test} would be answered in the practice {practice}, which "
            f"shows the right answers. Choose another practice, or make one with another seed: on the page of "
            f"collection {practice.collection}, or with make_test."
        )
    return Admission(capacity=capacity, per_worker=per_worker, test=test, practice=practice, invited=invited)


def _shown(test: QualificationTest) -> set[Any]:
    return set(test.items.values_list("image", "caption", "sentence"))


def admission_of(round: Round) -> Admission:
    """Return who may join the round; without limits where none were set."""
    return getattr(round, "admission", None) or Admission(round=round)


def permit_of(round: Round, worker: Worker) -> Permit:
    """Return what the worker may do in the round, full or not."""
    admission = admission_of(round)
    most = admission.per_worker
    ((excluded, paused, has_lease, *last),) = _standing(round.pk, worker.pk)
    return Permit(
        excluded=excluded,
        paused=paused,
        waits=last == [Assignment.State.FLAGGED] * BRAKE,
        has_lease=has_lease,
        left=None if most is None else max(0, most - hits_of(worker).filter(hit__round=round).count()),
        tries=tries_of(admission.test, worker) if admission.test else None,
    )


@FixedQuery
def _standing(round: int, worker: int) -> QuerySet[Worker, tuple[bool, bool, bool, *tuple[str | None, ...]]]:
    """Return whether the worker is excluded, paused in the round and has a lease there, and the states of their last
    BRAKE answer sets in whatever rounds."""
    exclusions = Exclusion.objects.filter(worker=worker, lifted_at=None)
    pauses = Pause.objects.filter(round=round, worker=worker, lifted_at=None)
    leases = Assignment.objects.filter(worker=worker, hit__round=round, state=Assignment.State.LEASED)
    sets = Assignment.objects.filter(worker=worker, has_hit=True, submitted_at__isnull=False).exclude(CLAIM)
    states = sets.exclude(hit__round__task__in=WRITING).order_by("-submitted_at", "-pk").values("state")
    last = [Subquery(states[place : place + 1]) for place in range(BRAKE)]
    return Worker.objects.filter(pk=worker).values_list(Exists(exclusions), Exists(pauses), Exists(leases), *last)


def is_excluded(worker: Worker) -> bool:
    """Whether the worker gets no more HITs from us."""
    return Exclusion.objects.filter(worker=worker, lifted_at=None).exists()


def has_joined(round: Round, worker: Worker) -> bool:
    return Participant.objects.filter(round=round, worker=worker).exists()


def places_left(round: Round) -> int | None:
    """Return how many more may join the round, None for any number. A worker who has failed
    the last try of its test takes no place."""
    admission = admission_of(round)
    if admission.capacity is None:
        return None
    places = round.participants.all()
    if test := admission.test:
        failed = TestAttempt.objects.filter(test=test, worker=OuterRef("worker"), number=test.attempts, passed=False)
        places = places.filter(~Exists(failed))
    return max(0, admission.capacity - places.count())


def join_round(round: Round, worker: Worker) -> bool:
    """Count the worker among those who joined the round; who did before stays so. False: the round is full."""
    with transaction.atomic():
        if admission_of(round).capacity is not None:
            # Workers who join wait for each other here, or two could take the last place.
            Round.objects.select_for_update(no_key=True).get(pk=round.pk)
        if has_joined(round, worker):
            return True
        if places_left(round) == 0:
            return False
        participant, created = Participant.objects.get_or_create(round=round, worker=worker)
        if created:
            record("joined", participant, actor=actor_of(worker), round=round.name)
    return True


def admit(round: Round, worker: Worker, permit: Permit) -> bool:
    """Whether the worker may take one more HIT of the round by their ``permit``, read while they are locked.

    False: the round is full, they have had as many HITs as one worker may, or their last answer sets all wait for a
    person. Raises NotAdmittedError for a worker who is excluded or paused in the round, and before its test is passed.
    """
    if permit.excluded:
        raise NotAdmittedError(f"Worker {worker} is excluded. Lift the exclusion first.")
    if permit.paused:
        raise NotAdmittedError(f"Worker {worker} is paused in round {round}. Resume them first.")
    admission = admission_of(round)
    if permit.needs_test:
        raise NotAdmittedError(f"Worker {worker} has not passed the test {admission.test} of round {round} yet.")
    if permit.waits or permit.left == 0:
        return False
    return admission.capacity is None or join_round(round, worker)


def pairs_seen(worker: Worker) -> Pairs:
    """Return the pairs of every HIT that the worker holds or has answered, whatever its round, of their tests, and of
    what the rounds that they joined offer for practice."""
    first, *others = (items.order_by().values_list("image", "caption") for items in _items_seen(worker))
    # A union, as one condition with an "or" in it would read every item there is.
    return set(first.union(*others))


@FixedQuery
def hit_with_seen_pair(worker: int, hit: int) -> QuerySet[Item, int]:
    """Return the HIT if it holds a pair of ``pairs_seen``."""
    return _with_seen_pairs(Worker(pk=worker), [hit])


def hits_with_seen_pairs(worker: Worker, hits: Collection[int]) -> set[int]:
    """Return those of ``hits`` that hold a pair of ``pairs_seen``, which the database compares."""
    return set(_with_seen_pairs(worker, hits))


def _with_seen_pairs(worker: Worker, hits: Collection[int]) -> QuerySet[Item, int]:
    items = Item.objects.filter(hit__in=hits).order_by().values_list("hit", flat=True)
    same = {"image": OuterRef("image"), "caption": OuterRef("caption")}
    first, *others = (items.filter(Exists(theirs.filter(**same))) for theirs in _items_seen(worker))
    return first.union(*others)


def _items_seen(worker: Worker) -> tuple[QuerySet[Item], QuerySet[TestItem], QuerySet[TestItem]]:
    joined = Admission.objects.filter(round__participants__worker=worker).values("practice")
    return (
        Item.objects.filter(hit__in=hits_of(worker).values("hit")),
        TestItem.objects.filter(test__tries__worker=worker),
        TestItem.objects.filter(test__in=joined),
    )


def hits_of(worker: Worker) -> AssignmentQuerySet:
    """Return the worker's assignments but for those that they returned or let expire, unpaid, sessions without a HIT,
    and unconfirmed claims, which another person may have made in their name."""
    # Work that we lost but paid for still counts.
    is_paid = Exists(Payment.objects.filter(assignment=OuterRef("pk"), state__in=Payment.EARNED))
    theirs = Assignment.objects.filter(~Q(state__in=Assignment.ABANDONED) | is_paid, worker=worker, has_hit=True)
    return theirs.exclude(CLAIM, submitted_at=None)


MOST_INVITATIONS = 1_000  # at a time


def make_invitations(round: Round, count: int, *, by: str) -> list[Invitation]:
    """Make unused invitations. Raises CounterpartError for a round that is not open in the browser pool, or a count out
    of range."""
    if not 1 <= count <= MOST_INVITATIONS:
        raise CounterpartError(f"Invalid number of invitations {count}: use 1 to {MOST_INVITATIONS:,}.")
    if round.channel != "browser" or round.state != "open":
        raise CounterpartError(
            f"Round {round} is not open in the browser pool: publish it with --channel browser first."
        )
    with transaction.atomic():
        made = Invitation.objects.bulk_create(Invitation(round=round, by=by) for _ in range(count))
        record("made invitations", round, actor=by, count=count, first=made[0].pk, last=made[-1].pk)
    return made


def revoke_invitations(round: Round, numbers: Iterable[int], *, by: str) -> int:
    """Make unused invitations void. Returns how many were not void before.

    Raises CounterpartError, and revokes none, for numbers that do not belong to the round or were used.
    """
    wanted = set(numbers)
    with transaction.atomic():
        found = {one.pk: one for one in round.invitations.select_for_update().filter(pk__in=wanted)}
        if unknown := sorted(wanted - found.keys()):
            raise CounterpartError(f"Round {round} has no invitation {some_of(unknown)}.")
        if used := sorted(one.pk for one in found.values() if one.used_by_id):
            raise CounterpartError(f"Invitations {some_of(used)} were used already: exclude their workers instead.")
        revoked = round.invitations.filter(pk__in=wanted, revoked_at=None).update(revoked_at=clock.now())
        if revoked:
            record("revoked invitations", round, actor=by, numbers=sorted(wanted))
    return revoked


def use_invitation(invitation: Invitation, worker: Worker) -> bool:
    """Use the invitation for the worker, in the transaction in which they join. False: it is void, or another
    worker used it."""
    unused = Invitation.objects.filter(pk=invitation.pk, used_by=None, revoked_at=None)
    if unused.update(used_by=worker, used_at=clock.now()):
        record("used", invitation, actor=actor_of(worker))
        return True
    return Invitation.objects.filter(pk=invitation.pk, used_by=worker).exists()
