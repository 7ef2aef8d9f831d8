"""Hold submitted answers against the gold controls: accept, or ask for a human check. Nothing is rejected here."""

from collections.abc import Mapping

from annotation.deciding import accept, flag
from annotation.models import Assignment
from hits.models import Control, Round
from hits.question import RIGHT_LEVELS


def grade(assignment: Assignment, *, policy: Mapping[str, frozenset[int]] = RIGHT_LEVELS) -> int:
    """Accept a submitted assignment without a wrong control, flag it otherwise. Returns how many were wrong.

    ``policy`` names the right levels of each polarity. Retired controls do not count. An assignment that
    was decided meanwhile stays as it is.
    """
    failures = count_failures(assignment, policy=policy)
    if failures:
        flag(assignment, control_failures=failures)
    else:
        accept(assignment)
    return failures


def count_failures(assignment: Assignment, *, policy: Mapping[str, frozenset[int]] = RIGHT_LEVELS) -> int:
    """Count the controls that the assignment answers outside ``policy``'s right levels."""
    answered = (
        assignment.judgments.filter(item__control__isnull=False)
        .exclude(item__control__state=Control.State.RETIRED)
        .values_list("item__control__polarity", "level")
    )
    return sum(level not in policy[polarity] for polarity, level in answered)


def grade_waiting(round: Round | None = None) -> int:
    """Grade what was submitted (in one round) and left ungraded, as a crash leaves it. Returns how many."""
    submitted = Assignment.objects.filter(state=Assignment.State.SUBMITTED)
    waiting = list(submitted.filter(hit__round=round) if round else submitted)
    for assignment in waiting:
        grade(assignment)
    return len(waiting)
