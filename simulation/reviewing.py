"""The simulated reviewer, who decides what failed controls have flagged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.contrib.auth.models import User

from annotation.deciding import decide
from annotation.models import Assignment, Judgment, WorkerIdentity
from hits.models import Round
from simulation.truth import Seen

REVIEWER = "simulated-reviewer"


@dataclass(frozen=True)
class Reviewer:
    """Decides flagged work: the profile's share of it is excluded, the rest counts. All is paid: no program rejects.

    Work without a slip counts always: a control that is wrong itself would be failed by everybody, for ever.
    """

    excluded: float | None

    def decide(self, assignment: Assignment, slips: int, rng: np.random.Generator) -> None:
        """Decide an assignment with wrong controls, ``slips`` of them the worker's fault; leave others to people."""
        flagged, failures = assignment.state == Assignment.State.FLAGGED, assignment.control_failures
        if self.excluded is None or not flagged or not failures:
            return
        counts = not slips or bool(rng.random() >= self.excluded)
        blamed = "Careless work." if not counts else "A slip." if slips else "The control is wrong."
        reason = f"Simulated review, wrong controls: {failures}. {blamed}"
        decide(assignment, votes_count=counts, paid=True, reason=reason, by=_reviewing_user())


def review_flagged(
    round: Round, worker_ids: Sequence[str], *, seen: Mapping[int, Sequence[Seen]], reviewer: Reviewer, seed: int
) -> int:
    """Have the flagged work of workers decided, who are named by a platform's ids; return how much of it was."""
    crowd = WorkerIdentity.objects.filter(channel=round.channel, external_id__in=worker_ids).values("worker")
    waiting = Assignment.objects.filter(hit__round=round, worker__in=crowd, state=Assignment.State.FLAGGED)
    flagged = list(waiting.select_related("hit").order_by("pk"))
    for assignment in flagged:
        nth = Assignment.objects.filter(hit=assignment.hit, pk__lt=assignment.pk).count()
        rng = np.random.default_rng([seed, assignment.hit.number, nth, 1])
        reviewer.decide(assignment, _slips(assignment, seen[assignment.hit_id]), rng)
    return sum(assignment.state != Assignment.State.FLAGGED for assignment in flagged)


def _slips(assignment: Assignment, seen: Sequence[Seen]) -> int:
    said = dict(Judgment.objects.filter(assignment=assignment).values_list("item_id", "level"))
    return sum(item.is_slip(said[item.item_id]) for item in seen if item.item_id in said)


def _reviewing_user() -> User:
    user, made = User.objects.get_or_create(username=REVIEWER)
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user
