"""Grading: compare submitted answers with the gold controls, look for signals of careless work, then accept, or flag
for a person. Nothing is rejected."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, FilteredRelation, OuterRef, Q

from annotation import platforms
from annotation.models import Assignment, AssignmentQuerySet, Decision, Rejection, Report
from annotation.money.budget import CeilingError, locked
from annotation.money.payments import owe_in
from annotation.work.answers import NO_PICTURE, Answer
from annotation.work.control_records import Tally, tallies_of
from annotation.work.evidence import ItemAnswer, evidence_of
from annotation.work.judgments import answers_in
from annotation.work.leases import move
from annotation.work.signals import Evidence
from core import clock
from core.text import counted
from hits.models import Control, Item, Round
from hits.question import RIGHT_LEVELS
from hits.task_types import task_type_of

RETIRED = Control.State.RETIRED

NO_CONTROLS = "The task has no controls."
WRITTEN = "A person reads the sentences and decides whether they count: nothing else says that they are right."
ALL_RIGHT = "All controls are right."
ALL_BUT_RETIRED = "All controls are right but for retired ones."
TOO_FEW = (
    "Of {controls.answered} controls of the round, the worker has {controls.right} right, fewer than {passing:.0%}."
)
PATIENCE = timedelta(days=3)  # in which a person should have decided on flagged work
WAITED = f"No person decided on it for {PATIENCE.days} days, and its controls are right."
SKIPPED_AT_MOST = 6  # one pair in this number may have no vote, as its picture did not load


def item_answers_of(answers: Iterable[Answer], items: Mapping[int, Item]) -> list[ItemAnswer]:
    """Return the answers, as grading reads them, of an assignment with ``answers`` to all ``items`` (by key)."""
    judging = {pk: item.control for pk, item in items.items() if item.control and item.control.state != RETIRED}
    return [
        ItemAnswer(
            answer.item_id,
            judging[answer.item_id].polarity if answer.item_id in judging else None,
            answer.level if answer.level != NO_PICTURE else None,
            answer.seconds,
            reported=answer.level == NO_PICTURE,
        )
        for answer in answers
    ]


def grade(assignment: Assignment, *, answers: list[ItemAnswer] | None = None) -> int:
    """Accept a submitted assignment whose worker answers enough controls right, flag it otherwise. Returns how many of
    its controls were wrong.

    Enough are all of them or, where the type of task wants a share, that share of all that the worker has answered in
    the round; what was accepted before stays accepted. ``answers`` are its own, where they are known; if a control is
    wrong there, they are read again, as the control may have been retired meanwhile. Retired controls do not count. A
    pair that the worker judged before is not stored again: an assignment without an answer to a control is flagged, and
    so is one that skipped many pairs, and every one whose answers are written. So is one that a signal speaks against
    (``annotation.work.evidence``), whatever its controls are. One that was decided meanwhile stays as it is.
    """
    if answers is None or _failures(answers):
        answers = _stored_item_answers(assignment)
    failures = _failures(answers)
    problem = _problem_of(answers)
    if task_type_of(assignment.hit.round).writes:
        problem = f"{problem} {WRITTEN}".strip()
    controls = _controls_of(assignment, answers, failures)
    passing = task_type_of(assignment.hit.round).passing
    fails = controls.right < passing * controls.answered
    if fails and passing < 1:
        problem = f"{problem} {TOO_FEW.format(controls=controls, passing=float(passing))}".strip()
    signals = evidence_of(assignment, answers)
    if fails or problem or signals or _misses_control(answers):
        flag(assignment, control_failures=failures, problem=problem, signals=signals)
    else:
        accept(assignment, failures=failures)
    return failures


def accept(assignment: Assignment, *, failures: int = 0) -> bool:
    """Accept a submitted assignment with enough right controls: its votes count and it is owed its reward.

    Where the round's ceiling forbids to pay it, it is flagged for a person instead. False: not accepted.
    """
    all_right = ALL_RIGHT if task_type_of(assignment.hit.round).on_pairs else NO_CONTROLS
    reason = f"{counted(failures, 'control')} wrong, as few as the task allows." if failures else all_right
    try:
        return _accept(assignment, failures=failures, reason=reason)
    except CeilingError:
        flag(assignment, control_failures=failures)
        return False


@transaction.atomic
def regrade(assignment: Assignment, *, waited: bool = False) -> bool:
    """Accept a flagged assignment with enough right controls: since one was retired or, if only signals speak against
    it, since it has ``waited`` as long as a person may take. False: it stays flagged, as too many others are wrong or
    unanswered, a signal waits for a person, the platform has decided, or the round's ceiling forbids to pay it."""
    locked(assignment.hit.round)  # first, as who decides does
    if not platforms.postings.is_undecided(assignment) or bool(assignment.signals) != waited:
        return False
    answers = _stored_item_answers(assignment)
    failures = _failures(answers)
    controls = _controls_of(assignment, answers, failures)
    passing = task_type_of(assignment.hit.round).passing
    if _problem_of(answers) or _misses_control(answers) or controls.right < passing * controls.answered:
        return False
    reason = f"{counted(failures, 'control')} wrong, as few as the task allows, but for retired ones."
    try:
        return _accept(
            assignment,
            come_from=Assignment.State.FLAGGED,
            failures=failures,
            reason=WAITED if waited else reason if failures else ALL_BUT_RETIRED,
        )
    except CeilingError:
        return False


def accept_unreviewed() -> int:
    """Accept what only signals speak against after PATIENCE without a decision. Returns how many."""
    long_ago = clock.now() - PATIENCE
    waiting = undisputed().filter(submitted_at__lt=long_ago).exclude(signals=[]).select_related("hit__round", "worker")
    return sum(regrade(assignment, waited=True) for assignment in waiting.order_by("pk"))


def accepted_unreviewed_at(assignment: Assignment) -> datetime | None:
    """Return when ``accept_unreviewed`` accepts the assignment unless a person decides; None: it waits for a person."""
    is_waiting = bool(assignment.signals and not assignment.control_failures)
    if not is_waiting or not undisputed().filter(pk=assignment.pk).exists():
        return None
    return assignment.submitted_at + PATIENCE if assignment.submitted_at else None


def undisputed() -> AssignmentQuerySet:
    """Return flagged work that may be accepted by a rule: no problem is noted, it has its seat, and its rejection is
    not proposed."""
    held = Assignment.objects.filter(state=Assignment.State.FLAGGED, problem="", seat__isnull=False)
    return held.exclude(rejections__in=Rejection.objects.filter(dropped_at=None))


def flag(assignment: Assignment, *, control_failures: int, problem: str = "", signals: Sequence[Evidence] = ()) -> bool:
    """Ask for a human check of a submitted assignment; ``problem`` and ``signals`` say of what, if not of its controls.
    False: it is not waiting for grading any more."""
    fields: dict[str, Any] = {"control_failures": control_failures, "signals": [asdict(one) for one in signals]}
    fields |= {"problem": problem} if problem else {}
    return move(
        assignment, come_from=Assignment.State.SUBMITTED, to=Assignment.State.FLAGGED, actor="grading", **fields
    )


def count_failures(assignment: Assignment) -> int:
    """Count the controls that the assignment answers wrong."""
    return _failures(_stored_item_answers(assignment))


def _failures(answers: list[ItemAnswer]) -> int:
    return sum(bool(one.polarity and one.level and one.level not in RIGHT_LEVELS[one.polarity]) for one in answers)


def _controls_of(assignment: Assignment, answers: list[ItemAnswer], failures: int) -> Tally:
    """Return the controls by which the assignment is judged: its own or, where the type of task wants a share to be
    right, all that its worker has answered in the round (Hodosh et al. 2013)."""
    judged = sum(bool(one.polarity and one.level) for one in answers)
    if task_type_of(assignment.hit.round).passing == 1:
        return Tally(judged, judged - failures)
    theirs = answers_in(assignment.hit.round_id).filter(worker=assignment.worker_id)
    others = tallies_of(theirs.exclude(assignment=assignment.pk)).get(assignment.worker_id, Tally())
    return Tally(others.answered + judged, others.right + judged - failures)


def _misses_control(answers: list[ItemAnswer]) -> bool:
    """Whether a control has no answer: neither a level nor that its picture does not load."""
    return any(one.polarity and one.level is None and not one.reported for one in answers)


def _problem_of(answers: list[ItemAnswer]) -> str:
    """Return what a person should look at in work that skipped pairs, as their pictures did not load: too many of them,
    or all controls. A skipped control is neither right nor wrong."""
    skipped = [one for one in answers if one.level is None and one.reported]
    controls = [one for one in answers if one.polarity]
    if len(skipped) > max(1, len(answers) // SKIPPED_AT_MOST):
        return f"{len(skipped)} of {len(answers)} pairs have no vote: the worker says that their pictures do not load."
    if controls and all(one in skipped for one in controls):
        return "No control has an answer: the worker says that their pictures do not load."
    return ""


def _stored_item_answers(assignment: Assignment) -> list[ItemAnswer]:
    theirs = Q(judgments__assignment=assignment.pk)
    reports = Report.objects.filter(worker=assignment.worker_id, item=OuterRef("pk"))
    items = Item.objects.filter(hit=assignment.hit_id).order_by()
    items = items.annotate(answer=FilteredRelation("judgments", condition=theirs), reported=Exists(reports))
    rows = items.values_list(
        "control__state", "pk", "control__polarity", "answer__level", "answer__seconds", "reported"
    )
    return [ItemAnswer(item, None if state == RETIRED else polarity, *rest) for state, item, polarity, *rest in rows]


def grade_waiting(round: Round | None = None) -> int:
    """Grade what was submitted (in one round) and left ungraded, as a crash leaves it. Returns how many."""
    submitted = Assignment.objects.filter(state=Assignment.State.SUBMITTED)
    waiting = list(submitted.filter(hit__round=round) if round else submitted)
    for assignment in waiting:
        grade(assignment)
    return len(waiting)


@transaction.atomic
def _accept(
    assignment: Assignment, *, come_from: Assignment.State = Assignment.State.SUBMITTED, failures: int, reason: str
) -> bool:
    round = assignment.hit.round
    if round.settles:
        round = locked(round)
    if not move(
        assignment, come_from=come_from, to=Assignment.State.ACCEPTED, actor="grading", control_failures=failures
    ):
        return False
    Decision.objects.create(assignment=assignment, votes_count=True, paid=True, reason=reason)
    owe_in(round, assignment)
    return True
