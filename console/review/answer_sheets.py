"""A HIT's pairs with an assignment's answers, and its rejections, as reviewers read them."""

from dataclasses import dataclass
from datetime import datetime

from annotation.models import Appeal, Assignment, Draft, Judgment, Rejection, Report
from annotation.review.appeals import appealable_until
from annotation.review.decisions import reversible_until
from annotation.work.answers import NO_PICTURE
from annotation.work.judgments import answers_from
from crowd.posting.platform_postings import gives_reward
from hits.models import HIT, Item
from hits.question import RIGHT_LEVELS
from hits.task_types import task_type_of
from hits.task_types.task_type import TaskType


@dataclass(frozen=True)
class SheetAnswer:
    """One pair of a HIT, with its judgment if an assignment is shown, or the saved draft of work not submitted."""

    item: Item
    task: TaskType
    judgment: Judgment | Draft | None = None
    skipped: bool = False
    """Whether it has no answer because its worker could not load the picture."""

    @property
    def expected(self) -> str:
        """The right answers of a control, in short; empty for a candidate."""
        if self.item.control is None:
            return ""
        return right_answers(self.task, self.item.control.polarity)

    @property
    def said(self) -> str:
        """The answer in the words of its type of task, or the written text; empty without an answer."""
        return (self.judgment.text or self.task.labels[self.judgment.level]) if self.judgment else ""

    @property
    def is_wrong(self) -> bool:
        """Whether a control was answered wrong."""
        if self.item.control is None or self.judgment is None:
            return False
        return self.judgment.level not in RIGHT_LEVELS[self.item.control.polarity]


def right_answers(task: TaskType, polarity: str) -> str:
    """Return the answers that are right for a control of this polarity, in short."""
    right = (label for level, label in task.labels.items() if level in RIGHT_LEVELS[polarity])
    return " or ".join(label.split(",")[0] for label in right)


def pairs_of(hit: HIT) -> list[SheetAnswer]:
    """Return a HIT's pairs in order, without judgments."""
    task = task_type_of(hit.round)
    return [SheetAnswer(item, task) for item in hit.items.select_related("image", "caption", "control")]


def answers_of(assignment: Assignment) -> list[SheetAnswer]:
    """Return the pairs of an assignment's HIT in order, with its judgments, or its drafts where none were submitted."""
    given = [*answers_from([assignment])] or assignment.drafts.exclude(level=NO_PICTURE)
    judgments: dict[int, Judgment | Draft] = {one.item_id: one for one in given}
    reported = set(Report.objects.filter(worker=assignment.worker_id).values_list("item", flat=True))
    items = (pair.item for pair in pairs_of(assignment.hit))
    task = task_type_of(assignment.hit.round)
    return [SheetAnswer(item, task, judgments.get(item.pk), item.pk in reported) for item in items]


@dataclass(frozen=True)
class RejectionSheet:
    """A rejection with its state, deadlines and appeal."""

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
        """None: no time limit, as for browser workers."""
        return reversible_until(self.rejection)

    @property
    def gives_reward(self) -> bool:
        """Whether a reversal still pays the reward; otherwise it pays a bonus."""
        return gives_reward(self.rejection.assignment)

    @property
    def appealable_until(self) -> datetime:
        return appealable_until(self.rejection)


def rejections_of(assignment: Assignment) -> list[RejectionSheet]:
    """Return the assignment's rejections, newest first."""
    rows = assignment.rejections.select_related("by", "seconded_by", "appeal", "appeal__answered_by", "assignment__hit")
    return [RejectionSheet(row) for row in rows.order_by("-id")]
