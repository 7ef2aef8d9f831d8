"""Qualification tests: pairs with known answers, or sentences that are written correctly or not, which workers judge
before their first HIT; making and taking them."""

import random
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.db import transaction
from django.db.models import QuerySet

from annotation.models import QualificationTest, TestAttempt, TestItem, Worker
from annotation.workers import actor_of, locked
from core.errors import CounterpartError, some_of
from core.events import record
from core.seeds import check_seed
from core.text import check_name, check_words, counted, find_named
from corpus.input_files import at, csv_header, csv_rows
from corpus.models import Collection, Image, Match
from hits.models import Control, Item
from hits.question import RIGHT_LEVELS, Level

LARGEST, MOST_ATTEMPTS = 50, 20
POSITIVE, NEGATIVE = Control.Polarity.POSITIVE.value, Control.Polarity.NEGATIVE.value

LONGEST_SENTENCE = 1_000
WRITTEN = {"right": POSITIVE, "wrong": NEGATIVE}
"""What the file of a test of sentences says of each."""

Drawn = tuple[int, int, str]
"""Keys of an image and a caption, and the polarity of the pair."""
Asked = Container[tuple[int | None, int | None]]
"""Keys of the image and the caption of pairs in HITs."""


@dataclass(frozen=True)
class Plan:
    """How many items of each polarity a test has, how many right answers pass it, and how often one may try.

    Raises CounterpartError for a test that nobody can pass, or that one answer to all pairs would pass.
    """

    positives: int
    negatives: int
    pass_mark: int
    attempts: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.positives, self.negatives) < 1 or self.size > LARGEST:
            raise CounterpartError(
                f"Invalid test of {self.positives} positives and {self.negatives} negatives: use at least one of each "
                f"and at most {LARGEST} together."
            )
        blind = max(self.positives, self.negatives)
        if not blind < self.pass_mark <= self.size:
            raise CounterpartError(
                f"Invalid pass mark {self.pass_mark}: use {blind + 1} to {self.size}, as one answer to all gets "
                f"{blind} right."
            )
        if not 1 <= self.attempts <= MOST_ATTEMPTS:
            raise CounterpartError(f"Invalid number of attempts {self.attempts}: use 1 to {MOST_ATTEMPTS}.")
        check_seed(self.seed)

    @property
    def size(self) -> int:
        return self.positives + self.negatives


@dataclass(frozen=True)
class Tries:
    """A worker's tries at a test: how many they made and have left, the last of them, and whether one passed."""

    test: QualificationTest
    used: int
    left: int
    last: TestAttempt | None
    passed: bool

    @property
    def next(self) -> int:
        """The number of the try that comes next."""
        return self.used + 1


def make_test(name: str, *, collection: Collection, plan: Plan, actor: str) -> QualificationTest:
    """Draw the pairs of a test and store it. The same collection, rounds and seed give the same pairs; repeating it
    changes nothing.

    Positives are original pairs; a negative is an image with a caption of another image that no source matches with it.
    Training images are used first. No image and no caption is used twice, and as nobody judges a pair twice, pairs that
    a round asks about which is not closed only where the collection has no others.
    Raises CounterpartError for a name that another test has, and for a collection with too few pictures.
    """
    if test := _same(check_name(name), collection, plan):
        return test
    drawn = _draw(collection, plan)
    with transaction.atomic():
        test = QualificationTest.objects.create(
            name=name, collection=collection, pass_mark=plan.pass_mark, attempts=plan.attempts, seed=plan.seed
        )
        TestItem.objects.bulk_create(
            TestItem(test=test, place=place, image_id=image, caption_id=caption, polarity=polarity)
            for place, (image, caption, polarity) in enumerate(drawn, 1)
        )
        record("made", test, actor=actor, positives=plan.positives, negatives=plan.negatives, seed=plan.seed)
    return test


def make_sentence_test(
    name: str, *, collection: Collection, file: Path, pass_mark: int, attempts: int = 2, actor: str
) -> QualificationTest:
    """Store a test of spelling and grammar for the rounds of a collection: the sentences of a CSV file with the columns
    ``sentence`` and ``written`` (right or wrong), in the file's order. Repeating it changes nothing.

    Raises CounterpartError for a malformed file, a name that another test has, and as ``Plan`` does.
    """
    check_name(name)
    sentences = _sentences(file)
    kinds = [polarity for _, polarity in sentences]
    plan = Plan(kinds.count(POSITIVE), kinds.count(NEGATIVE), pass_mark, attempts)
    if test := _same(name, collection, plan):
        if list(test.items.values_list("sentence", "polarity")) != sentences:
            raise _other_test(name)
        return test
    with transaction.atomic():
        test = QualificationTest.objects.create(
            name=name, collection=collection, pass_mark=pass_mark, attempts=attempts, seed=plan.seed
        )
        TestItem.objects.bulk_create(
            TestItem(test=test, place=place, sentence=sentence, polarity=polarity)
            for place, (sentence, polarity) in enumerate(sentences, 1)
        )
        record("made", test, actor=actor, positives=plan.positives, negatives=plan.negatives, seed=plan.seed)
    return test


def _sentences(file: Path) -> list[tuple[str, str]]:
    """Read the sentences and their polarity."""
    if not {"sentence", "written"} <= set(csv_header(file)):
        raise CounterpartError(f"{file.name} needs the columns sentence and written, which is right or wrong.")
    sentences: dict[str, str] = {}
    for number, row in csv_rows(file):
        with at(file, "line", number):
            sentence, told = _words(row["sentence"]), row["written"].strip().lower()
            if told not in WRITTEN:
                raise ValueError(f"written is {told[:20]!r}: use right or wrong")
            if sentence in sentences:
                raise ValueError(f"{sentence[:40]!r} is in the file twice")
            sentences[sentence] = WRITTEN[told]
    return list(sentences.items())


def _words(text: str) -> str:
    """Raises ValueError for a sentence that cannot be shown."""
    try:
        return check_words(text, what="sentence", at_most=LONGEST_SENTENCE)
    except CounterpartError as error:
        raise ValueError(str(error).removesuffix(".")) from error


def find_test(name: str) -> QualificationTest:
    """Return the qualification test of this name. Raises CounterpartError that lists the existing ones."""
    return find_named(QualificationTest.objects.all(), name, made_by="make_test")


def tries_of(test: QualificationTest, worker: Worker) -> Tries:
    """Return how a worker stands at a test. One that was passed for any round is passed."""
    made = list(test.tries.filter(worker=worker))
    passed = any(one.passed for one in made)
    left = 0 if passed else max(0, test.attempts - len(made))
    return Tries(test, len(made), left, made[-1] if made else None, passed)


def answer_test(test: QualificationTest, worker: Worker, levels: Mapping[int, int], *, number: int) -> TestAttempt:
    """Take in the levels by place of try ``number``, and grade it. Sending a try again returns it as it was graded.

    Raises CounterpartError unless each pair has one level, and where no try is left or another one comes next.
    """
    with transaction.atomic():
        # One try at a time for one person, or two tabs would have one too many.
        locked(worker.pk)
        if made := test.tries.filter(worker=worker, number=number).first():
            return made
        tries = tries_of(test, worker)
        if not tries.left:
            raise CounterpartError(f"No try at the test {test} is left; {tries.used} were made.")
        if number != tries.next:
            raise CounterpartError(f"Try {tries.next} comes next, not {number}; open the test again.")
        attempt = _graded(test, worker, levels, number)
        record("tested", attempt, actor=actor_of(worker), right=attempt.right, passed=attempt.passed)
    return attempt


def _same(name: str, collection: Collection, plan: Plan) -> QualificationTest | None:
    test = QualificationTest.objects.filter(name=name).first()
    if test is None:
        return None
    counts = [test.items.filter(polarity=polarity).count() for polarity in (POSITIVE, NEGATIVE)]
    as_made = (test.collection_id, *counts, test.pass_mark, test.attempts, test.seed)
    if as_made != (collection.pk, plan.positives, plan.negatives, plan.pass_mark, plan.attempts, plan.seed):
        raise _other_test(name)
    return test


def _other_test(name: str) -> CounterpartError:
    return CounterpartError(f"There is a test {name} already, and it is another one; choose another name.")


def _draw(collection: Collection, plan: Plan) -> list[Drawn]:
    rng = random.Random(plan.seed)
    needed = plan.size + plan.negatives
    items = Item.objects.filter(hit__round__pool__collection=collection, hit__round__closed_at=None)
    asked = set(items.order_by().values_list("image", "caption"))
    images = _images(collection, rng, last={image for image, _ in asked})[:needed]
    if len(images) < needed:
        raise CounterpartError(
            f"Collection {collection} has {counted(len(images), 'picture')} with captions, and the test needs "
            f"{needed}; ask for fewer pairs, or import pictures with import_collection --images."
        )
    captions = _captions(images)
    positive, shown, lent = (
        images[: plan.positives],
        images[plan.positives : plan.size],
        images[plan.size :],
    )
    drawn = [(image, rng.choice(_unasked(image, captions[image], asked)), POSITIVE) for image in positive]
    drawn += _strange(shown, lent, captions, asked, rng)
    rng.shuffle(drawn)
    return drawn


def _strange(
    images: Sequence[int],
    lenders: Sequence[int],
    captions: Mapping[int, Sequence[int]],
    asked: Asked,
    rng: random.Random,
) -> list[Drawn]:
    """Pair each image with a caption of its lender."""
    known = set(Match.objects.filter(image__in=images).values_list("image", "caption"))
    drawn = []
    for image, lender in zip(images, lenders, strict=True):
        strange = [caption for caption in captions[lender] if (image, caption) not in known]
        if not strange:
            raise CounterpartError(
                f"Every caption of image {lender} matches image {image} in some source; pass another --seed."
            )
        drawn.append((image, rng.choice(_unasked(image, strange, asked)), NEGATIVE))
    return drawn


def _unasked(image: int, captions: Sequence[int], asked: Asked) -> Sequence[int]:
    """Those of the captions that no round asks about with the image; all where there are none."""
    return [caption for caption in captions if (image, caption) not in asked] or captions


def _images(collection: Collection, rng: random.Random, *, last: Container[int | None]) -> list[int]:
    """The images that have a file and an original caption, shuffled: those for training first, and some ``last``."""
    captioned = Match.objects.filter(collection=collection, source=Match.ORIGINAL).values("image")
    pictured = collection.images.exclude(file="").filter(pk__in=captioned)
    shuffled = [*_shuffled(pictured.training(), rng), *_shuffled(pictured.gallery(), rng)]
    return sorted(shuffled, key=lambda image: image in last)


def _shuffled(images: QuerySet[Image], rng: random.Random) -> list[int]:
    keys = list(images.order_by("key").values_list("pk", flat=True))
    rng.shuffle(keys)
    return keys


def _captions(images: Sequence[int]) -> dict[int, list[int]]:
    """The original captions of each image, by their own keys: the same in any database."""
    originals = Match.objects.filter(image__in=images, source=Match.ORIGINAL).order_by("caption__key")
    captions: dict[int, list[int]] = {}
    for image, caption in originals.values_list("image", "caption"):
        captions.setdefault(image, []).append(caption)
    return captions


def _graded(test: QualificationTest, worker: Worker, levels: Mapping[int, int], number: int) -> TestAttempt:
    polarities = dict(test.items.values_list("place", "polarity"))
    if missing := sorted(polarities.keys() - levels.keys()):
        unanswered = counted(len(missing), "question has", "questions have")
        raise CounterpartError(f"{unanswered} no answer yet: {some_of(missing, at_most=18)}. Answer and send again.")
    if odd := [place for place, level in levels.items() if place not in polarities or level not in Level.values]:
        raise CounterpartError(
            f"{counted(len(odd), 'answer is', 'answers are')} to no question of this test; reload the page."
        )
    right = sum(levels[place] in RIGHT_LEVELS[polarity] for place, polarity in polarities.items())
    return TestAttempt.objects.create(
        test=test,
        worker=worker,
        number=number,
        answers={str(place): level for place, level in sorted(levels.items())},
        right=right,
        passed=right >= test.pass_mark,
    )
