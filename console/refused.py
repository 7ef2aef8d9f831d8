"""A rejection as reviewers see it: how it stands, until when it can be reversed, what its worker says."""

from dataclasses import dataclass
from datetime import datetime

from annotation.appealing import appealable_until
from annotation.models import Appeal, Assignment, Rejection
from annotation.reversing import gives_reward, reversible_until


@dataclass(frozen=True)
class Refused:
    rejection: Rejection

    @property
    def state(self) -> str:
        if self.rejection.is_proposal:
            return "proposed"
        if self.rejection.holds:
            return "rejected"
        never_held = self.rejection.needs_second and self.rejection.seconded_at is None
        return "dropped" if never_held else "reversed"

    @property
    def appeal(self) -> Appeal | None:
        return getattr(self.rejection, "appeal", None)

    @property
    def reversible_until(self) -> datetime | None:
        """None: no end, as in our own pool."""
        return reversible_until(self.rejection)

    @property
    def gives_reward(self) -> bool:
        """Whether a reversal still gives the reward; a bonus otherwise."""
        return gives_reward(self.rejection)

    @property
    def appealable_until(self) -> datetime:
        return appealable_until(self.rejection)


def refused_of(assignment: Assignment) -> list[Refused]:
    """Return the assignment's rejections, the latest first."""
    rows = assignment.rejections.select_related(
        "by", "seconded_by", "appeal", "appeal__answered_by", "assignment__platform__posting"
    )
    return [Refused(row) for row in rows.order_by("-id")]
