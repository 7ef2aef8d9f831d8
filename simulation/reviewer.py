"""The simulated reviewer, who decides flagged work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.contrib.auth.models import User

from annotation.deciding import decide
from annotation.models import Assignment, Judgment
from simulation.truth import Seen

REVIEWER = "simulated-reviewer"


@dataclass(frozen=True)
class Reviewer:
    """Excludes the share ``excluded`` of flagged work and lets the rest count; None leaves all of it to people.

    ``seen`` is HIT id → its items and their true levels. All work is paid: no program rejects. Work without a slip
    always counts, because everybody fails a control that is wrong itself.
    """

    excluded: float | None
    seen: Mapping[int, Sequence[Seen]]

    def review(self, assignment: Assignment, rng: np.random.Generator) -> None:
        """Decide an assignment that was flagged for failed controls; leave any other as it is."""
        flagged, failures = assignment.state == Assignment.State.FLAGGED, assignment.control_failures
        if self.excluded is None or not flagged or not failures:
            return
        slips = self._slips(assignment)
        counts = not slips or bool(rng.random() >= self.excluded)
        blamed = "Careless work." if not counts else "A slip." if slips else "The control is wrong."
        reason = f"Simulated review, wrong controls: {failures}. {blamed}"
        decide(assignment, votes_count=counts, paid=True, reason=reason, by=_reviewing_user())

    def _slips(self, assignment: Assignment) -> int:
        levels = dict(Judgment.objects.filter(assignment=assignment).values_list("item_id", "level"))
        items = self.seen[assignment.hit_id]
        return sum(item.is_slip(levels[item.item_id]) for item in items if item.item_id in levels)


def _reviewing_user() -> User:
    user, made = User.objects.get_or_create(username=REVIEWER)
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user
