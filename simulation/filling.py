"""Answers as the fields of a judging page's form, whichever page it is."""

from collections.abc import Mapping, Sequence

from annotation.answers import Answer
from hits.models import Item, Round

Places = Mapping[int, int]
"""Item id to its place in the HIT."""


def places_in(round: Round) -> Places:
    """Return the place of every item of the round."""
    return dict(Item.objects.filter(hit__round=round).values_list("pk", "place"))


def filled_with(answers: Sequence[Answer], places: Places, *, active_seconds: int) -> dict[str, str]:
    """Return the fields. The site believes no more seconds than have passed on its own clock."""
    filled = {"active_seconds": str(active_seconds)}
    for answer in answers:
        for part in ("level", "shortcoming", "wrong_way"):
            if said := getattr(answer, part):
                filled[f"{part}-{places[answer.item_id]}"] = str(said)
    return filled
