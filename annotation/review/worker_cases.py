"""A worker's case: their flagged work, to whom it is assigned, notes on it, and decisions on several answer sets at
once, which who decided can undo."""

from collections.abc import Iterable, Sequence

from django.contrib.auth.models import User
from django.db import transaction

from annotation import platforms
from annotation.models import Appeal, Assignment, AssignmentQuerySet, CaseNote, Decision, Rejection, Worker
from annotation.money.payments import compensation_of, withdraw
from annotation.review.decisions import decide, for_ruling, standing_rejection, work_to_review
from annotation.work.leases import claim, move
from core import clock
from core.errors import CounterpartError
from core.events import record
from core.text import check_words

LONGEST_NOTE = 2_000


def case_of(worker: Worker, *, signal: str = "") -> AssignmentQuerySet:
    """Return the flagged work of the worker that waits for a decision, the longest waiting first; with ``signal`` the
    work that it speaks against and nothing else does."""
    waiting = work_to_review().filter(worker=worker).order_by("submitted_at", "pk")
    if not signal:
        return waiting
    alone = [one.pk for one in waiting.filter(problem="") if signals_of(one) == {signal}]
    return waiting.filter(pk__in=alone)


def signals_of(assignment: Assignment) -> set[str]:
    """Return the names of the signals that speak against the work; ``control`` for a control with a wrong answer."""
    controls = {"control"} if assignment.control_failures else set()
    return controls | {str(one["signal"]) for one in assignment.signals}


def assign_case(worker: Worker, *, to: User | None, by: str) -> bool:
    """Assign the worker's case to a person who decides on it, or to no person. False: it was so before."""
    with transaction.atomic():
        if not Worker.objects.filter(pk=worker.pk).exclude(reviewer=to).update(reviewer=to):
            return False
        record("case assigned", worker, actor=by, to=str(to or ""))
    return True


def note_on(worker: Worker, *, text: str, by: str) -> CaseNote:
    """Add a note to the worker's case. Raises CounterpartError for words that are missing or too many."""
    text = check_words(text, what="note", at_most=LONGEST_NOTE)
    with transaction.atomic():
        note = CaseNote.objects.create(worker=worker, text=text, by=by)
        record("case noted", worker, actor=by, note=note.pk)
    return note


def decide_on(
    sets: Iterable[Assignment],
    *,
    votes_count: bool,
    paid: bool,
    reason: str,
    by: User,
    grounds: str = "",
    evidence: str = "",
) -> list[Decision]:
    """Decide several answer sets alike, all or none; return the decisions that hold at once.

    Raises CounterpartError as ``decide`` does, and without a set.
    """
    found = sorted(sets, key=lambda one: (one.hit.round_id, one.pk))  # rounds are locked in one order everywhere
    if not found:
        raise CounterpartError("No flagged work of this worker waits any more; reload the page.")
    words = {"reason": reason, "grounds": grounds, "evidence": evidence}
    with transaction.atomic():
        made = [decide(one, votes_count=votes_count, paid=paid, **words, by=by) for one in found]
    return [one for one in made if one]


def undo_decisions(decisions: Sequence[Decision], *, by: User) -> int:
    """Take decisions on flagged work back, all or none: it waits again, and what it was owed is withdrawn. Returns how
    many.

    Raises CounterpartError for a decision of another person, one that was changed or undone since, work that was not
    flagged before it, and work that was paid, refused with a second person, appealed, or given to another worker.
    """
    if not decisions:
        raise CounterpartError("The decision can no longer be undone. Decide again instead.")
    with transaction.atomic():
        for decision in sorted(decisions, key=lambda one: (one.assignment.hit.round_id, one.assignment_id)):
            _undo(decision, for_ruling(decision.assignment), by)
    return len(decisions)


def _undo(decision: Decision, work: Assignment, by: User) -> None:
    if [*work.decisions.filter(undone_at=None)] != [decision] or work.state == Assignment.State.FLAGGED:
        raise CounterpartError(f"The decision on {work} is not the only one any more. Decide again instead.")
    if decision.by_id != by.pk:
        raise CounterpartError(f"Another person decided on {work}. Decide again instead.")
    if compensation_of(work) or not platforms.postings.is_undecided(work):
        raise CounterpartError(f"{work} was settled on its platform. Decide again instead.")
    if rejection := standing_rejection(work):
        _drop(rejection)
    withdraw(work, actor=str(by))
    if work.state == Assignment.State.EXCLUDED and not claim(work.seat_id):
        raise CounterpartError(f"The seat of {work} was given to another worker. Decide again instead.")
    Decision.objects.filter(pk=decision.pk).update(undone_at=clock.now())
    record("decision undone", work, actor=str(by), decision=decision.pk)
    move(work, come_from=Assignment.State(work.state), to=Assignment.State.FLAGGED, actor=str(by))


def _drop(rejection: Rejection) -> None:
    """End a rejection that holds as if it had never been, before a platform or its worker acts on it."""
    alone = Rejection.objects.filter(pk=rejection.pk, dropped_at=None, needs_second=False)
    unsent = alone.exclude(call=Rejection.Call.UNDER_WAY)
    if Appeal.objects.filter(rejection=rejection).exists() or not unsent.update(
        dropped_at=clock.now(), call=Rejection.Call.NONE
    ):
        raise CounterpartError(f"The {rejection} was sent, seconded or appealed. Reverse it instead.")
