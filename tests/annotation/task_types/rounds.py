"""A round of each type of task, and the answers that a careful worker sends."""

from django.utils import timezone

from annotation.work.answers import Answer
from annotation.work.submissions import submit_answers
from corpus.models import Match
from hits.models import Item, Round
from hits.task_types import TASK_TYPES
from mitl.models import Pool
from tests.annotation.answering import SURE, right_answers, shown
from tests.factories import make_assignment, make_collection, make_pool, make_round, make_sample, make_worker
from tests.hits.pools import pack, pack_boxes, pack_captions, pool_of

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


def study_pool(*, captions: int = 44, name: str = "study", pictures: bool = False) -> Pool:
    """A source ``truth`` with ``captions`` captions of 5 to 8 images, and others with 4 and 9."""
    collection = make_collection(f"zoo-{name}", images=50, captions_each=1, pictures=pictures)
    images, texts = list(collection.images.order_by("pk")), list(collection.captions.order_by("pk"))
    sizes = [*(5 + number % 4 for number in range(captions)), 4, 9]
    Match.objects.bulk_create(
        Match(collection=collection, source="truth", image=images[(number + step) % 50], caption=texts[number], score=1)
        for number, size in enumerate(sizes)
        for step in range(size)
    )
    # A version holds its negatives with score 0.
    Match.objects.create(collection=collection, source="truth", image=images[20], caption=texts[0], score=0)
    pairs = [(images[(number + 30) % 50], texts[number]) for number in range(50)]
    return make_pool(make_sample(collection, f"queries-{name}"), name=f"pool-{name}", pairs=pairs)


def make_study(name: str = "study", pool: Pool | None = None, **parameters: object) -> Round:
    packed = pack(
        name, pool or study_pool(name=name), task="preference", positives="truth", ceiling="1000", **parameters
    )
    Round.objects.filter(pk=packed.pk).update(channel="browser", published_at=timezone.now())
    packed.refresh_from_db()
    return packed


def make_asked(pairs: int = 25, name: str = "captions", **parameters: object) -> Round:
    packed = pack(name, pool_of(pairs, name=f"pool-{name}"), task="determinate", **parameters)
    Round.objects.filter(pk=packed.pk).update(channel="browser", published_at=timezone.now())
    packed.refresh_from_db()
    return packed


def vote_on_first(made: Round, *levels: int, rest: int = 1) -> Item:
    """Have the first HIT answered by a worker for each of ``levels``: this level for its first item that is not a
    control, ``rest`` for the others, and the right one for controls."""
    item = Item.objects.filter(hit__round=made, control=None).first()
    for number, level in enumerate(levels, 1):
        assignment = make_assignment(item.hit.seats.get(number=number), make_worker())
        answers = [
            Answer(one.item_id, level if one.item_id == item.pk else one.level)
            for one in right_answers(assignment, level=rest)
        ]
        submit_answers(assignment, answers=answers, active_seconds=60)
    return item
