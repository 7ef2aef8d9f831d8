"""A round of each type of task, and the answers that a careful worker sends."""

from hits.models import Item, Round
from hits.task_types import TASK_TYPES
from tests.annotation.answering import SURE, shown
from tests.annotation.task_types.preference_study import make_study, study_pool
from tests.factories import make_collection, make_round
from tests.hits.boxes import pack_boxes
from tests.hits.captions import pack_captions
from tests.hits.pools import pack, pool_of

EVERY_TYPE = sorted(TASK_TYPES)


def draft_of(task: str) -> Round:
    """An unpublished round of this type with pictures, whose HITs are wanted once."""
    made = _made(task)
    Round.objects.filter(pk=made.pk).update(channel="", published_at=None)
    made.refresh_from_db()
    return made


def open_round(task: str) -> Round:
    """The same in the browser pool."""
    made = draft_of(task)
    Round.objects.filter(pk=made.pk).update(channel="browser", published_at="2026-11-01T00:00Z")
    made.refresh_from_db()
    return made


def _made(task: str) -> Round:
    match task:
        case "levels":
            return make_round()
        case "checkbox":
            return pack_boxes(replication=1)
        case "preference":
            return _shortened(make_study(pool=study_pool(pictures=True), replication=1))
        case "caption":
            return pack_captions(replication=1)
        case _:
            collection = make_collection("zoo-any", images=30, pictures=True)
            return pack("any", pool_of(25, collection=collection), task=task, replication=1)


def _shortened(study: Round) -> Round:
    """Leave the first four questions of three HITs: a whole study has 400, with thousands of pictures."""
    study.hits.filter(number__gt=3).delete()
    Item.objects.filter(hit__round=study, place__gt=4).delete()
    return study


def form_of(assignment) -> dict[str, str]:
    """Right answers to the controls, the first answer to all else; one of a picture's sentences is ticked."""
    items, form = list(enumerate(shown(assignment), 1)), {}
    for place, item in items:
        level = SURE[item.control.polarity] if item.control else 1
        if assignment.hit.round.task == "caption":
            form[f"text-{place}"] = f"Sentence number {['one', 'two', 'three', 'four', 'five'][place - 1]} is here."
        elif assignment.hit.round.task != "checkbox" or level == 1:
            form[f"level-{place}"] = str(level)
    return form
