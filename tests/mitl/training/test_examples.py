import pytest

from core.errors import CounterpartError
from corpus.models import Collection, Image, Match
from counterpart_annotators.training.learners import TrainingSet
from mitl.training.examples import Validation, read_examples
from tests.factories import make_collection


@pytest.fixture
def zoo(db) -> Collection:
    """20 images with two captions each."""
    return make_collection(images=20, captions_each=2)


def read(collection: Collection, source: str = "original", validation="none", seed: int = 0) -> TrainingSet:
    return read_examples(collection, source, validation=Validation(validation), seed=seed)


def keys(examples: TrainingSet) -> set[str]:
    return {image.key for image in examples.images}


def grade(collection: Collection, pairs: dict[tuple[int, int], int | None], source: str = "truth") -> None:
    """Give pairs of places a level."""
    images, captions = list(collection.images.order_by("pk")), list(collection.captions.order_by("pk"))
    for (image, caption), level in pairs.items():
        Match.objects.create(
            collection=collection, image=images[image], caption=captions[caption], source=source, grade=level
        )


def test_pairs_are_places_among_what_has_a_pair(zoo):
    grade(zoo, {(3, 6): 1, (5, 6): 1, (5, 11): 1})
    examples = read(zoo, "truth")
    assert [image.key for image in examples.images] == [zoo.images.order_by("pk")[i].key for i in (3, 5)]
    assert examples.pairs.tolist() == [[0, 0], [1, 0], [1, 1]]


def test_level_1_counts_whole_level_2_half_and_no_other(zoo):
    grade(zoo, {(0, 0): 1, (0, 1): 2, (0, 2): 3, (0, 3): 4, (0, 4): None})
    examples = read(zoo, "truth")
    assert [caption.key for caption in examples.captions] == list(
        zoo.captions.order_by("pk").values_list("key", flat=True)
    )[:2] + [zoo.captions.order_by("pk")[4].key]
    assert examples.weights.tolist() == [1, 0.5, 1]


def test_a_source_without_levels_counts_whole(zoo):
    assert set(read(zoo).weights.tolist()) == {1}


def test_the_split_val_is_validated_on_and_not_trained_on(zoo):
    Image.objects.filter(pk__in=zoo.images.values("pk")[:15]).update(split="train")
    Image.objects.filter(split="").update(split="val")
    examples = read(zoo, validation="split")
    assert (len(examples.images), len(examples.validation.images), len(examples.validation.pairs)) == (15, 5, 10)
    assert not keys(examples) & keys(examples.validation)


def test_on_request_all_of_the_training_splits_is_trained_on(zoo):
    Image.objects.filter(pk__in=zoo.images.values("pk")[:3]).update(split="val")
    examples = read(zoo, validation="none")
    assert (len(examples.images), examples.validation) == (3, None)


def test_a_tenth_is_held_out_by_the_seed(zoo):
    first, again, other = (read(zoo, validation="held-out", seed=seed) for seed in (1, 1, 2))
    assert (len(first.images), len(first.validation.images)) == (18, 2)
    assert keys(first.validation) == keys(again.validation) != keys(other.validation)
    assert not keys(first) & keys(first.validation)


def test_a_pair_across_the_two_parts_is_in_neither(zoo):
    Image.objects.update(split="train")
    Image.objects.filter(pk=zoo.images.order_by("pk")[0].pk).update(split="val")
    grade(zoo, {(0, 0): 1, (0, 2): 1, (1, 0): 1, (1, 2): 1})
    examples = read(zoo, "truth", validation="split")
    assert (len(examples.pairs), len(examples.validation.pairs)) == (1, 1)


def test_too_few_images_to_hold_out_are_refused(db):
    with pytest.raises(CounterpartError, match="A tenth of 6 training images"):
        read(make_collection(), validation="held-out")


def test_a_source_without_pairs_in_the_training_splits_is_refused(zoo):
    Image.objects.filter(pk__in=zoo.images.values("pk")[:3]).update(split="train")
    grade(zoo, {(9, 18): 1})
    with pytest.raises(CounterpartError, match="'truth' .* 3 training images"):
        read(zoo, "truth")


def test_with_the_gallery_pairs_outside_the_training_splits_count(zoo):
    Image.objects.filter(pk__in=zoo.images.values("pk")[:15]).update(split="train")
    grade(zoo, {(3, 6): 1, (16, 20): 1})
    assert len(read(zoo, "truth").pairs) == 1
    assert len(read_examples(zoo, "truth", validation=Validation.NONE, seed=0, gallery=True).pairs) == 2


def test_with_the_gallery_rejected_pairs_come_too(zoo):
    grade(zoo, {(3, 6): 1, (3, 8): 3, (5, 6): 4})
    examples = read_examples(zoo, "truth", validation=Validation.NONE, seed=0, gallery=True)
    images, captions = [image.key for image in examples.images], [caption.key for caption in examples.captions]
    rejected = {(images[image], captions[caption]) for image, caption in examples.rejected.tolist()}
    assert rejected == {("3", "8"), ("5", "6")}
    assert len(examples.pairs) == 1
    assert not len(read(zoo, "truth").rejected)
