"""One HIT as staff read it: every pair with its role and, of one assignment, what the worker said of it."""

from dataclasses import dataclass

from annotation.models import Assignment, Judgment
from hits.models import HIT, Item
from hits.question import RIGHT_LEVELS, Level


@dataclass(frozen=True)
class Answer:
    """One pair; ``judgment`` is None where nobody's answer is shown."""

    item: Item
    judgment: Judgment | None = None

    @property
    def expected(self) -> str:
        """The right answers to a control, in their first words; empty for a candidate."""
        if self.item.control is None:
            return ""
        right = sorted(RIGHT_LEVELS[self.item.control.polarity])
        return " or ".join(Level(level).label.split(",")[0] for level in right)

    @property
    def is_wrong(self) -> bool:
        """True where a gold control was answered on the wrong side."""
        if self.item.control is None or self.judgment is None:
            return False
        return self.judgment.level not in RIGHT_LEVELS[self.item.control.polarity]


def pairs_of(hit: HIT) -> list[Answer]:
    """Return a HIT's pairs in their places, without anybody's answers."""
    return [Answer(item) for item in hit.items.select_related("image", "caption", "control")]


def answers_of(assignment: Assignment) -> list[Answer]:
    """Return the pairs of an assignment's HIT in their places, with its answers."""
    judgments = {judgment.item_id: judgment for judgment in assignment.judgments.all()}
    return [Answer(pair.item, judgments.get(pair.item.pk)) for pair in pairs_of(assignment.hit)]
