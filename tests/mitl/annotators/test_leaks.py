"""No annotator that represents an image by captions sees a query caption inside its own image: in neither direction."""

import pytest
from django.core.management import CommandError, call_command

from corpus.models import Caption, Image
from mitl.models import Direction
from mitl.search.gallery import RankedLists, load_lists, open_gallery
from mitl.training.examples import Validation, read_examples
from tests.factories import make_annotator, make_collection
from tests.mitl.searches import retrieve

CASES = pytest.mark.parametrize("direction", Direction)


@pytest.fixture
def zoo(db):
    """Six images of two captions each, in which every word is one caption's own."""
    made = make_collection(images=6)
    for caption in made.captions.all():
        Caption.objects.filter(pk=caption.pk).update(text=f"word{caption.key} more{caption.key}")
    return made


def scores_of(collection, direction: Direction) -> dict[tuple[int, int], float]:
    """What word overlap's stored lists say of every pair of an image and a caption."""
    (made,) = retrieve(collection, annotators=[make_annotator()], depth=6)
    lists: RankedLists = load_lists(made)[direction]
    to_captions = direction == Direction.IMAGE_TO_CAPTION
    return {
        (query, item) if to_captions else (item, query): score
        for query, items, scores in zip(
            lists.queries.tolist(), lists.items.tolist(), lists.scores.tolist(), strict=True
        )
        for item, score in zip(items, scores, strict=True)
    }


@CASES
def test_an_image_scores_as_one_that_never_had_the_caption(zoo, direction):
    """Images 0 and 1 have the same other caption; the query belongs to image 0 alone."""
    first, second = zoo.images.order_by("pk")[:2]
    query, other = first.captions.order_by("pk")
    Caption.objects.filter(pk=query.pk).update(text="red dog on grass")
    Caption.objects.filter(pk=other.pk).update(text="one dog sleeping")
    second.captions.order_by("-pk").first().delete()
    second.captions.update(text="one dog sleeping")
    scores = scores_of(zoo, direction)
    assert scores[first.pk, query.pk] == pytest.approx(scores[second.pk, query.pk])
    assert scores[first.pk, query.pk] > 0


def test_what_is_learned_from_is_in_no_gallery(zoo):
    """Nor is a caption of the gallery that matches an image of the training split."""
    Image.objects.filter(pk__in=zoo.images.values("pk")[:3]).update(split="train")
    asked = zoo.captions.last()
    zoo.matches.create(image=zoo.images.first(), caption=asked, source="original")
    learned = read_examples(zoo, "original", validation=Validation.NONE, seed=0)
    gallery = open_gallery(zoo)
    assert not {image.key for image in learned.images} & {image.key for image in gallery.images}
    assert not {caption.key for caption in learned.captions} & {caption.key for caption in gallery.captions}
    assert asked.pk in gallery.caption_ids


def test_nearest_neighbours_do_not_learn_a_gallery_where_each_image_would_be_its_own_neighbour(few):
    few.images.filter(key__startswith="red").update(split="")
    call_command("add_annotator", "nn", "--kind", "nn", "--option=picture=48")
    call_command("train_annotator", "nn", "--collection", "colours")  # of the training split alone
    few.images.update(split="")
    with pytest.raises(CommandError, match="18 training images .*splits"):
        call_command("train_annotator", "nn", "--collection", "colours")
