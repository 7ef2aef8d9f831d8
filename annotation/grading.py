"""Grading: compare submitted answers with the gold controls, then accept, or flag for a person. Nothing is rejected."""

from collections.abc import Mapping

from django.db import transaction
from django.db.models import FilteredRelation, Q

from annotation.budget import CeilingError
from annotation.leases import move
from annotation.models import Assignment, Decision
from annotation.payments import owe
from hits.models import Control, Item, Round
from hits.question import RIGHT_LEVELS

State = Assignment.State

Controls = list[tuple[str, int | None]]
"""Polarities of a HIT's controls, each with the level that an assignment gave it; None where it has no answer."""


def grade(assignment: Assignment, *, policy: Mapping[str, frozenset[int]] = RIGHT_LEVELS) -> int:
    """Accept a submitted assignment that answers every control right, flag it otherwise. Returns how many were wrong.

    ``policy`` names the right levels of each polarity. Retired controls do not count. A pair that the worker judged
    before is not stored again: an assignment that lacks a control is flagged. One that was decided meanwhile stays as
    it is.
    """
    controls = _controls_of(assignment)
    failures = _failed(controls, policy)
    if failures or _lacks_one(controls):
        flag(assignment, control_failures=failures)
    else:
        accept(assignment)
    return failures


def accept(assignment: Assignment) -> bool:
    """Accept a submitted assignment whose controls are all right: its votes count and it is owed its reward.

    Where the round's ceiling forbids to pay it, it is flagged for a person instead. False: not accepted.
    """
    try:
        return _accept(assignment)
    except CeilingError:
        flag(assignment, control_failures=0)
        return False


def regrade(assignment: Assignment) -> bool:
    """Accept a flagged assignment whose controls are all right since one was retired. False: it stays flagged, as
    another control is wrong or lacking, or as the round's ceiling forbids to pay it."""
    controls = _controls_of(assignment)
    if _failed(controls) or _lacks_one(controls):
        return False
    try:
        return _accept(assignment, come_from=State.FLAGGED, reason="All controls are right but for retired ones.")
    except CeilingError:
        return False


def flag(assignment: Assignment, *, control_failures: int) -> bool:
    """Ask for a human check of a submitted assignment. False: it is not waiting for grading any more."""
    return move(
        assignment, come_from=State.SUBMITTED, to=State.FLAGGED, actor="grading", control_failures=control_failures
    )


def count_failures(assignment: Assignment, *, policy: Mapping[str, frozenset[int]] = RIGHT_LEVELS) -> int:
    """Count the controls that the assignment answers outside ``policy``'s right levels."""
    return _failed(_controls_of(assignment), policy)


def _failed(controls: Controls, policy: Mapping[str, frozenset[int]] = RIGHT_LEVELS) -> int:
    return sum(level is not None and level not in policy[polarity] for polarity, level in controls)


def _lacks_one(controls: Controls) -> bool:
    return any(level is None for _, level in controls)


def _controls_of(assignment: Assignment) -> Controls:
    """Return the controls of the HIT that judge work."""
    theirs = Q(judgments__assignment=assignment.pk)
    items = Item.objects.filter(hit=assignment.hit_id, control__isnull=False).order_by()
    judging = items.exclude(control__state=Control.State.RETIRED).annotate(
        said=FilteredRelation("judgments", condition=theirs)
    )
    return list(judging.values_list("control__polarity", "said__level"))


def grade_waiting(round: Round | None = None) -> int:
    """Grade what was submitted (in one round) and left ungraded, as a crash leaves it. Returns how many."""
    submitted = Assignment.objects.filter(state=Assignment.State.SUBMITTED)
    waiting = list(submitted.filter(hit__round=round) if round else submitted)
    for assignment in waiting:
        grade(assignment)
    return len(waiting)


@transaction.atomic
def _accept(
    assignment: Assignment, *, come_from: Assignment.State = State.SUBMITTED, reason: str = "All controls are right."
) -> bool:
    if not move(assignment, come_from=come_from, to=State.ACCEPTED, actor="grading", control_failures=0):
        return False
    Decision.objects.create(assignment=assignment, votes_count=True, paid=True, reason=reason)
    owe(assignment)
    return True
