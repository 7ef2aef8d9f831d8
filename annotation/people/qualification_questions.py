"""What a qualification test asks, as items to be stored: pairs of a collection, or the sentences of a file; and which
of the two right levels fits an item best, and why. Practice shows both; neither is graded."""

import random
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.db import transaction
from django.db.models import Max, Min, QuerySet

from annotation.models import Judgment, QualificationTest, TestItem
from core.errors import CounterpartError
from core.events import record
from core.text import check_words, counted, trimmed
from corpus.input_files import at
from corpus.models import Collection, Image, Match
from corpus.tables import ANSWER, TEXT, read_rows
from hits.models import Control, Item
from hits.question import RIGHT_LEVELS

POSITIVE = Control.Polarity.POSITIVE.value
NEGATIVE = Control.Polarity.NEGATIVE.value

LONGEST_SENTENCE = 1_000
WRITTEN = {"right": POSITIVE, "wrong": NEGATIVE}
"""What the file of a test of sentences says of each."""
COLUMNS = {"sentence": ("sentence", *TEXT), "written": ("written", *ANSWER)}

Asked = Container[tuple[int | None, int | None]]
"""Keys of the image and the caption of pairs in HITs."""


def draw_pairs(collection: Collection, *, positives: int, negatives: int, seed: int) -> list[TestItem]:
    """Draw original pairs, and images with a caption of another image that no source matches with them, shuffled. The
    same collection, rounds and seed give the same pairs.

    Training images are used first. No image and no caption is used twice. A worker judges a pair once, so pairs of open
    rounds are used only where the collection has no others. Raises CounterpartError for a
    collection with too few pictures.
    """
    rng = random.Random(seed)
    size = positives + negatives
    needed = positives + 2 * negatives
    items = Item.objects.filter(hit__round__pool__collection=collection, hit__round__closed_at=None)
    asked = set(items.order_by().values_list("image", "caption"))
    images = _images(collection, rng, last={image for image, _ in asked})[:needed]
    if len(images) < needed:
        raise CounterpartError(
            f"Collection {collection} has {counted(len(images), 'picture')} with captions, and the test needs "
            f"{needed}; ask for fewer pairs, or import pictures with import_collection --images."
        )
    captions = _captions(images)
    positive = images[:positives]
    shown = images[positives:size]
    lent = images[size:]
    drawn = [_pair(image, rng.choice(_unasked(image, captions[image], asked)), POSITIVE) for image in positive]
    drawn += _strange(shown, lent, captions, asked, rng)
    rng.shuffle(drawn)
    return drawn


def draw_disputed(collection: Collection, *, positives: int, negatives: int, seed: int) -> list[TestItem]:
    """Draw pairs of the collection's closed rounds on which workers disagreed whether they match, and which a release
    has decided since, each with its decided level. Raises CounterpartError where there are too few."""
    votes = Judgment.objects.of_candidates().counted().filter(image__collection=collection, caption__isnull=False)
    votes = votes.filter(level__gt=0).exclude(item__hit__round__closed_at=None).order_by()
    both = votes.values_list("image", "caption").annotate(best=Min("level"), worst=Max("level"))
    pairs = both.filter(best__lte=2, worst__gte=3).order_by("image", "caption")
    items = [_pair(image, caption, "") for image, caption, *_ in pairs]
    level_as_graded(items)
    rng = random.Random(seed)
    drawn = []
    for polarity, wanted in ((POSITIVE, positives), (NEGATIVE, negatives)):
        found = [item for item in items if item.best_level in RIGHT_LEVELS[polarity]]
        if len(found) < wanted:
            raise CounterpartError(
                f"Collection {collection} has {counted(len(found), 'decided pair')} on which workers disagreed, with "
                f"answer {polarity}, and {wanted} are needed. Ask for fewer, or release a version first."
            )
        for item in rng.sample(found, wanted):
            item.polarity = polarity
            drawn.append(item)
    rng.shuffle(drawn)
    return drawn


def _strange(
    images: Sequence[int],
    lenders: Sequence[int],
    captions: Mapping[int, Sequence[int]],
    asked: Asked,
    rng: random.Random,
) -> list[TestItem]:
    """Pair each image with a caption of its lender."""
    known = set(Match.objects.filter(image__in=images).values_list("image", "caption"))
    drawn = []
    for image, lender in zip(images, lenders, strict=True):
        strange = [caption for caption in captions[lender] if (image, caption) not in known]
        if not strange:
            raise CounterpartError(
                f"Every caption of image {lender} matches image {image} in some source; pass another --seed."
            )
        drawn.append(_pair(image, rng.choice(_unasked(image, strange, asked)), NEGATIVE))
    return drawn


def _unasked(image: int, captions: Sequence[int], asked: Asked) -> Sequence[int]:
    """Those of the captions that no round asks about with the image; all where there are none."""
    return [caption for caption in captions if (image, caption) not in asked] or captions


def _images(collection: Collection, rng: random.Random, *, last: Container[int | None]) -> list[int]:
    """Return the images with a file and an original caption, shuffled: those for training first, and some ``last``."""
    captioned = Match.objects.filter(collection=collection, source=Match.ORIGINAL).values("image")
    pictured = collection.images.exclude(file="").filter(pk__in=captioned)
    shuffled = [*_shuffled(pictured.training(), rng), *_shuffled(pictured.gallery(), rng)]
    return sorted(shuffled, key=lambda image: image in last)


def _shuffled(images: QuerySet[Image], rng: random.Random) -> list[int]:
    keys = list(images.order_by("key").values_list("pk", flat=True))
    rng.shuffle(keys)
    return keys


def _captions(images: Sequence[int]) -> dict[int, list[int]]:
    """Return the original captions of each image, by their own keys: the same in any database."""
    originals = Match.objects.filter(image__in=images, source=Match.ORIGINAL).order_by("caption__key")
    captions: dict[int, list[int]] = {}
    for image, caption in originals.values_list("image", "caption"):
        captions.setdefault(image, []).append(caption)
    return captions


def _pair(image: int, caption: int, polarity: str) -> TestItem:
    return TestItem(image_id=image, caption_id=caption, polarity=polarity)


def read_sentences(file: Path) -> list[TestItem]:
    """Read a table with the columns ``sentence`` and ``written`` (right or wrong), in its order. Raises
    CounterpartError for a malformed one."""
    sentences: dict[str, str] = {}
    for number, row in read_rows(file, COLUMNS, required=COLUMNS):
        with at(file, "line", number):
            sentence = _words(str(row["sentence"] or ""))
            written = str(row["written"] or "").strip().lower()
            if written not in WRITTEN:
                raise ValueError(f"written is {written[:20]!r}: use right or wrong")
            if sentence in sentences:
                raise ValueError(f"{sentence[:40]!r} is in the file twice")
            sentences[sentence] = WRITTEN[written]
    return [TestItem(sentence=sentence, polarity=polarity) for sentence, polarity in sentences.items()]


def _words(text: str) -> str:
    """Raises ValueError for a sentence that cannot be shown."""
    try:
        return check_words(text, what="sentence", at_most=LONGEST_SENTENCE)
    except CounterpartError as error:
        raise ValueError(str(error).removesuffix(".")) from error


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
    """Give the drawn pairs of a test the level that the sources with levels agree on, where it is a right one; any, for
    pairs without a polarity."""
    graded: dict[tuple[int | None, int | None], set[int]] = {}
    rows = Match.objects.filter(image__in=[item.image_id for item in items], grade__isnull=False)
    for image, caption, grade in rows.values_list("image", "caption", "grade"):
        graded.setdefault((image, caption), set()).add(grade or 0)
    for item in items:
        levels = graded.get((item.image_id, item.caption_id), set())
        if len(levels) == 1 and levels <= RIGHT_LEVELS.get(item.polarity, levels):
            item.best_level = levels.pop()
