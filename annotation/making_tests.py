"""Make a qualification test: original pairs as matches, strange pairs as none, drawn once and then fixed."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet

from annotation.models import QualificationTest, TestItem
from core.errors import CounterpartError
from core.events import record
from core.naming import check_name
from corpus.models import Collection, Image, Match
from hits.models import Control

LARGEST, MOST_ATTEMPTS = 50, 20
POSITIVE, NEGATIVE = Control.Polarity.POSITIVE.value, Control.Polarity.NEGATIVE.value

Drawn = tuple[int, int, str]
"""Keys of an image and a caption, and the polarity of the pair."""


@dataclass(frozen=True)
class Plan:
    """How many pairs of each polarity a test has, how many right answers pass it, and how often one may try.

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
                f"A test of {self.positives} positives and {self.negatives} negatives will not do: give at least one "
                f"of each and at most {LARGEST} together."
            )
        blind = max(self.positives, self.negatives)
        if not blind < self.pass_mark <= self.size:
            raise CounterpartError(
                f"A pass mark of {self.pass_mark} will not do: give {blind + 1} to {self.size}, as {blind} are right "
                "already for whoever gives one answer to all pairs."
            )
        if not 1 <= self.attempts <= MOST_ATTEMPTS:
            raise CounterpartError(f"{self.attempts} attempts will not do: give 1 to {MOST_ATTEMPTS}.")

    @property
    def size(self) -> int:
        return self.positives + self.negatives


def make_test(name: str, *, collection: Collection, plan: Plan, actor: str) -> QualificationTest:
    """Draw the pairs of a test and store it; the same collection and seed give the same pairs. Repeating it changes
    nothing.

    Positives are original pairs; a negative is an image with a caption of another image that no source matches with it.
    Images that training reads come first, as rounds ask about the others. No image and no caption comes twice.
    Raises CounterpartError for a name taken by another test, and for a collection with too few pictures.
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


def _same(name: str, collection: Collection, plan: Plan) -> QualificationTest | None:
    test = QualificationTest.objects.filter(name=name).first()
    if test is None:
        return None
    counts = [test.items.filter(polarity=polarity).count() for polarity in (POSITIVE, NEGATIVE)]
    as_made = (test.collection_id, *counts, test.pass_mark, test.attempts, test.seed)
    if as_made != (collection.pk, plan.positives, plan.negatives, plan.pass_mark, plan.attempts, plan.seed):
        raise CounterpartError(f"There is a test {name} already, and it is another one; choose another name.")
    return test


def _draw(collection: Collection, plan: Plan) -> list[Drawn]:
    rng = random.Random(plan.seed)
    needed = plan.size + plan.negatives
    images = _images(collection, rng)[:needed]
    if len(images) < needed:
        raise CounterpartError(
            f"Collection {collection} has {len(images)} pictures with captions, and the test needs {needed}; ask for "
            "fewer pairs, or import pictures with import_collection --images."
        )
    captions = _captions(images)
    positive, shown, lent = (
        images[: plan.positives],
        images[plan.positives : plan.size],
        images[plan.size :],
    )
    drawn = [(image, rng.choice(captions[image]), POSITIVE) for image in positive]
    drawn += _strange(shown, lent, captions, rng)
    rng.shuffle(drawn)
    return drawn


def _strange(
    images: Sequence[int], lenders: Sequence[int], captions: Mapping[int, Sequence[int]], rng: random.Random
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
        drawn.append((image, rng.choice(strange), NEGATIVE))
    return drawn


def _images(collection: Collection, rng: random.Random) -> list[int]:
    """The images that have a file and an original caption, shuffled: those for training first."""
    captioned = Match.objects.filter(collection=collection, source=Match.ORIGINAL).values("image")
    pictured = collection.images.exclude(file="").filter(pk__in=captioned)
    return [*_shuffled(pictured.training(), rng), *_shuffled(pictured.gallery(), rng)]


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
