"""The pairs of a HIT with their answers, as staff read them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotation.models import Draft, Judgment
from hits.models import HIT, Item
from hits.question import RIGHT_LEVELS
from hits.task_types import task_type_of
from hits.task_types.task_type import TaskType


@dataclass(frozen=True)
class SheetAnswer:
    """One pair of a HIT, with its judgment if an assignment is shown, or the saved draft of work not submitted.

    Attributes:
        skipped: whether it has no answer because its worker could not load the picture.
        place: at which it was shown.
        others: levels that others gave the pair.
        ranks: that of the pair by annotator that proposed it, the better of both directions.
    """

    item: Item
    task: TaskType
    judgment: Judgment | Draft | None = None
    skipped: bool = False
    place: int = 0
    others: Sequence[int] = ()
    ranks: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_alone(self) -> bool:
        """Whether it says yes where most others say no, or no where most say yes."""
        if not self.others or self.judgment is None:
            return False
        yes = sum(level in RIGHT_LEVELS["positive"] for level in self.others)
        said_yes = self.judgment.level in RIGHT_LEVELS["positive"]
        return 2 * yes < len(self.others) if said_yes else 2 * yes > len(self.others)

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
