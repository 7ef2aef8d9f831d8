"""Which of the two right levels fits an item of a test best, and why. Practice shows both; neither is graded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction

from annotation.models import QualificationTest, TestItem
from core.errors import CounterpartError
from core.events import record
from core.text import check_words, trimmed
from corpus.models import Match
from hits.question import RIGHT_LEVELS

LONGEST_REASON = 300


@dataclass(frozen=True)
class Best:
    """The level that fits best, None where staff chose no level, and the reason in a sentence, or an empty text."""

    level: int | None
    reason: str


@transaction.atomic
def set_best(test: QualificationTest, bests: Mapping[int, Best], *, actor: str) -> int:
    """Store the best level and the reason of items, by place; return how many items changed.

    Raises CounterpartError for a level that is not right for its item, and for a reason that cannot be shown.
    """
    changed = []
    for item in test.items.filter(place__in=bests):
        best = _checked(item, bests[item.place])
        if (item.best_level, item.reason) != (best.level, best.reason):
            item.best_level = best.level
            item.reason = best.reason
            changed.append(item)
    TestItem.objects.bulk_update(changed, ["best_level", "reason"])
    if changed:
        record("explained", test, actor=actor, questions=len(changed))
    return len(changed)


def _checked(item: TestItem, best: Best) -> Best:
    where = f"item {item.place}"
    if best.level is not None and best.level not in RIGHT_LEVELS[item.polarity]:
        raise CounterpartError(f"Level {best.level} is not right for {where}, whose answer is {item.polarity}.")
    reason = trimmed(best.reason)
    return Best(best.level, check_words(reason, what=f"reason of {where}", at_most=LONGEST_REASON) if reason else "")


def level_as_graded(items: Sequence[TestItem]) -> None:
    """Give the drawn pairs of a test the level that the sources with levels agree on, where it is a right one."""
    graded: dict[tuple[int | None, int | None], set[int]] = {}
    rows = Match.objects.filter(image__in=[item.image_id for item in items], grade__isnull=False)
    for image, caption, grade in rows.values_list("image", "caption", "grade"):
        graded.setdefault((image, caption), set()).add(grade or 0)
    for item in items:
        levels = graded.get((item.image_id, item.caption_id), set())
        if len(levels) == 1 and levels <= RIGHT_LEVELS[item.polarity]:
            item.best_level = levels.pop()
