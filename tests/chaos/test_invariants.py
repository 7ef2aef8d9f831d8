"""The checker of the kills reports every fault that is planted."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.files.storage import default_storage
from django.db.models import F, QuerySet
from django.db.transaction import atomic
from django.utils import timezone

from annotation.models import Assignment, Decision, Draft, Judgment, Payment
from annotation.work.answers import Answer
from annotation.work.grading import grade_waiting
from annotation.work.leases import lease_seat
from annotation.work.submissions import submit_answers
from core.models import Event, Job
from crowd.models import Outbox
from dataset.models import Version
from hits.models import Item, Round, Seat
from tests.chaos.crowd import RIGHT, Sent
from tests.chaos.invariants import violations
from tests.dataset.releasing import release_version
from tests.factories import make_collection, make_round, make_worker
from tests.transactions import taken_back


def judge(round: Round) -> Sent:
    """One worker takes a HIT and judges it, controls right."""
    assignment = lease_seat(round, worker=make_worker())
    items = assignment.hit.items.select_related("control")
    levels = {item.pk: RIGHT[item.control.polarity] if item.control else 2 for item in items}
    submit_answers(assignment, answers=[Answer(*one) for one in levels.items()], active_seconds=60)
    return Sent(assignment.pk, levels, acknowledged=True)


@pytest.fixture
def sent(db) -> list[Sent]:
    """A round of two HITs for two workers each, three of four seats judged, and a version of it."""
    round = make_round(make_collection(images=10), hits=2, replication=2)
    made = [judge(round) for _ in range(3)]
    grade_waiting()
    release_version("v1", collection=round.pool.collection, sample=round.pool.sample, rounds=[round], partial=True)
    lease_seat(round, worker=make_worker())
    return made


def test_a_round_without_faults_passes(sent):
    assert violations(sent) == []
    assert violations(sent, at_rest=True) == []


def first() -> Assignment:
    return Assignment.objects.order_by("pk").first()


def lose():
    Payment.objects.filter(assignment=first()).delete()
    Decision.objects.filter(assignment=first()).delete()
    Judgment.objects.filter(assignment=first()).delete()
    Event.objects.filter(subject=f"annotation.assignment:{first().pk}").delete()
    Seat.objects.filter(pk=first().seat_id).update(state=Seat.State.OPEN)
    Assignment.objects.filter(pk=first().pk).update(state="expired")


def change_file():
    version = Version.objects.get()
    path = f"{version.folder}/{next(iter(version.manifest['files']))}"
    with default_storage.open(path, "ab") as file:
        file.write(b"one more line\n")


def remove_file():
    version = Version.objects.get()
    default_storage.delete(f"{version.folder}/{next(iter(version.manifest['files']))}")


def change(**fields: object) -> Callable[[], object]:
    """Change the first assignment."""
    return lambda: Assignment.objects.filter(pk=first().pk).update(**fields)


def change_lease(field: str, later: timedelta) -> Callable[[], object]:
    return lambda: Assignment.objects.filter(state="leased").update(**{field: timezone.now() + later})


def judgments() -> QuerySet[Judgment]:
    return Judgment.objects.filter(assignment=first())


def submit_again() -> None:
    subject = Event.objects.filter(verb="submitted").first().subject
    atomic(Event.objects.create)(actor="x", verb="submitted", subject=subject)


def decide_again() -> None:
    Decision.objects.create(assignment=first(), votes_count=True, paid=True, reason="again")


LATER = timedelta(hours=2)
FAULTS = {
    "an acknowledged submission is gone": ("lost", lose),
    "a level was changed": ("altered", lambda: judgments().update(level=3)),
    "a judgment was lost": ("partial", lambda: judgments().first().delete()),
    "open work has judgments": ("partial", change(state="leased")),
    "work was submitted twice": ("doubled", submit_again),
    "work was decided twice": ("doubled", decide_again),
    "a pair has more votes than its round wants": ("votes", lambda: Round.objects.update(replication=1)),
    "a held seat is offered": ("seats", lambda: Seat.objects.filter(pk=first().seat_id).update(state="open")),
    "a taken seat has no holder": ("seats", lambda: Assignment.objects.filter(state="leased").delete()),
    "a control result is missing": ("controls", change(control_failures=None)),
    "accepted work was never paid": ("money", lambda: Payment.objects.first().delete()),
    "work that was not accepted is paid": ("money", change(state="flagged")),
    # The last two, as no transaction takes them back.
    "a released file was changed": ("files", change_file),
    "a released file is missing": ("files", remove_file),
}
FAULTS_AT_REST = {
    "a control result is wrong": ("controls", change(control_failures=F("control_failures") + 1)),
    "a lease is past its deadline": ("leases", change_lease("deadline", timedelta(0))),
    "a lease begins in the future": ("clocks", change_lease("leased_at", LATER)),
    "a lease is too long": ("clocks", change_lease("deadline", LATER)),
    "a submission is not graded": ("leases", change(state="submitted")),
    "a draft of submitted work is left": (
        "leases",
        lambda: Draft.objects.create(assignment=first(), item=Item.objects.first(), level=1),
    ),
    "a job never ended": ("work", lambda: Job.objects.create(title="Release", task="farm.tasks.release")),
    "a call was not made": ("work", lambda: Outbox.objects.create(call="publish", subject="x:1", channel="mturk")),
    "a version does not follow from its judgments": (
        "files",
        lambda: judgments().filter(item__control=None).update(level=4),
    ),
}


def kind_reported(plant: Callable[[], object], sent: list[Sent], kind: str, *, at_rest: bool) -> bool:
    """Plant a fault, look whether it is reported, and take it back."""
    with taken_back():
        plant()
        found = violations(sent, at_rest=at_rest)
    return any(line.startswith(kind) for line in found)


@pytest.mark.parametrize("at_rest", [False, True])
def test_every_planted_fault_is_reported(sent, at_rest):
    faults = FAULTS_AT_REST if at_rest else FAULTS
    missed = [name for name, (kind, plant) in faults.items() if not kind_reported(plant, sent, kind, at_rest=at_rest)]
    assert missed == []


def test_what_a_platform_acknowledged_may_wait_for_the_next_sync(sent):
    on_platform = Sent(0, {}, on_platform=True, acknowledged=True)
    assert violations([*sent, on_platform]) == []
    assert violations([*sent, on_platform], at_rest=True) != []


def test_what_was_never_acknowledged_may_be_missing(sent):
    lose()
    sent[0].acknowledged = False
    assert not any(line.startswith("lost") for line in violations(sent))
