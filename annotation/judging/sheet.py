"""What the judging page knows of a HIT's pairs: place, sentence, the picture's size, and the worker's own draft."""

from dataclasses import dataclass

from annotation.answers import ASKS_REASONS
from annotation.drafting import drafts_of
from annotation.models import Draft, Shortcoming
from hits.models import Assignment


@dataclass(frozen=True)
class Pair:
    """One pair as it is shown. No key of a picture, caption or item, and nothing of its role, is here to leak."""

    place: int
    sentence: str
    width: int | None
    height: int | None
    level: int = 0
    shortcoming: str = ""
    wrong_way: str = ""

    def is_finished(self, *, reasons: bool) -> bool:
        if not (reasons and self.level in ASKS_REASONS):
            return self.level > 0
        return bool(self.wrong_way) if self.shortcoming == Shortcoming.WRONG_WAY else bool(self.shortcoming)


def pairs_of(assignment: Assignment) -> list[Pair]:
    """Return the HIT's pairs in order, each with its draft where there is one."""
    columns = ("pk", "place", "caption__text", "image__width", "image__height")
    drafts = {draft.item_id: draft for draft in drafts_of(assignment)}
    return [
        Pair(place, sentence, width, height, *_drafted(drafts.get(pk)))
        for pk, place, sentence, width, height in assignment.hit.items.order_by("place").values_list(*columns)
    ]


def _drafted(draft: Draft | None) -> tuple[int, str, str]:
    return (draft.level, draft.shortcoming, draft.wrong_way) if draft else (0, "", "")
