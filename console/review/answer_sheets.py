"""A HIT's pairs with an assignment's answers, and its rejections, as reviewers read them."""

from dataclasses import dataclass
from datetime import datetime

from annotation.models import Appeal, Assignment, Draft, Judgment, Rejection, Report
from annotation.review.appeals import appealable_until
from annotation.review.decisions import reversible_until
from annotation.work.answers import NO_PICTURE
from annotation.work.judgments import answers_from
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
    def pair(self) -> tuple[int, int] | None:
        """The keys of its picture and its caption; None where the task shows only one of them."""
        image = self.item.image_id
        caption = self.item.caption_id
        return (image, caption) if image and caption else None

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
    """A rejection with its appeal, and how long it can be appealed and reversed (None: at any time)."""

    rejection: Rejection
    appeal: Appeal | None
    appealable_until: datetime
    reversible_until: datetime | None

    @property
    def state(self) -> str:
        if self.rejection.is_proposal:
            return "proposed"
        if self.rejection.holds:
            return "rejected"
        return "reversed" if self.rejection.is_agreed else "dropped"


def rejections_of(assignment: Assignment) -> list[RejectionSheet]:
    """Return the assignment's rejections, newest first."""
    rows = assignment.rejections.select_related("by", "seconded_by", "appeal", "appeal__answered_by", "assignment__hit")
    return [
        RejectionSheet(row, getattr(row, "appeal", None), appealable_until(row), reversible_until(row))
        for row in rows.order_by("-id")
    ]
