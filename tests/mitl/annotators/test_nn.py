"""The nearest-neighbour annotator, on plain pictures whose captions name their colours."""

import numpy as np
import pytest
from django.core.management import call_command

from mitl.annotators import load
from mitl.annotators.base import ListAnnotator
from mitl.models import Annotator, Direction
from tests.mitl.annotators.learned import annotator_of, colour_of, gallery, learned_once, settings_of, trained_arrays
from tests.mitl.pictured import COLOURS

FEW_WORDS = {"colour_words": 16, "texture_words": 8, "sift_words": 4, "picture": 48}


def trained(colours, **options):
    arrays = learned_once("nn", colours, loss="", **FEW_WORDS, **options)
    return load(annotator_of("nn", arrays, **FEW_WORDS, **options))


@pytest.mark.parametrize("text", ["f1", "bow5", "tri5"])
def test_it_finds_colours_both_ways(colours, text):
    annotator = trained(colours, text=text)
    images, captions = gallery(colours)
    places, scores = annotator.lists_of(Direction.IMAGE_TO_CAPTION, images, captions)
    assert [colour_of(captions[place].key) for place in places[:, 0]] == [colour_of(image.key) for image in images]
    assert (np.diff(scores) <= 0).all()
    places, _ = annotator.lists_of(Direction.CAPTION_TO_IMAGE, captions, images)
    assert [colour_of(images[place].key) for place in places[:, 0]] == [colour_of(c.key) for c in captions]


def test_a_caption_asks_for_images_like_that_of_the_nearest_captions(colours):
    """Eq. 2: f(i, s) = f_I(i_NN, i) for the training pair whose captions are most like s."""
    annotator = trained(colours)
    images, captions = gallery(colours)
    _, scores = annotator.lists_of(Direction.CAPTION_TO_IMAGE, captions[:1], images)
    train = list(colours.images.filter(split="train").order_by("pk"))
    nearest = next(image for image in train if colour_of(image.key) == colour_of(captions[0].key))
    by_hand = np.minimum(annotator._pictures.read([nearest]), annotator._pictures.read(images)).sum(1)
    assert np.allclose(np.sort(by_hand)[::-1], scores[0], atol=1e-5)


def test_it_ranks_every_item_once(colours):
    annotator = trained(colours)
    images, captions = gallery(colours)
    places, _ = annotator.lists_of(Direction.IMAGE_TO_CAPTION, images, captions)
    assert np.array_equal(np.sort(places, axis=1), np.tile(np.arange(len(captions)), (len(images), 1)))
    assert isinstance(annotator, ListAnnotator)


def test_what_was_exported_is_an_annotator_elsewhere(colours, tmp_path):
    few = [f"--option={name}={value}" for name, value in FEW_WORDS.items()]
    call_command("add_annotator", "nn", "--kind", "nn", *few)
    call_command("train_annotator", "nn", "--collection", "colours")
    call_command("export_annotator", "nn", str(tmp_path / "nn.npz"))
    call_command("add_annotator", "again", "--kind", "nn", "--checkpoint", str(tmp_path / "nn.npz"))
    images, captions = gallery(colours)
    first, second = (
        load(annotator).lists_of(Direction.IMAGE_TO_CAPTION, images, captions)
        for annotator in Annotator.objects.all_named(["nn", "again"])
    )
    assert np.array_equal(first[0], second[0])


def test_the_same_seed_keeps_the_same_arrays(colours):
    first, second = (train("nn", colours, loss="", **FEW_WORDS) for train in (learned_once, trained_arrays))
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_its_page_tells_how_many_neighbours_there_are(colours):
    from mitl.annotators.nn import annotator as nn

    arrays = learned_once("nn", colours, loss="", **FEW_WORDS)
    told = nn.architecture(settings_of("nn", **FEW_WORDS), arrays)
    assert told["neighbours"] == f"{4 * len(COLOURS)} training images"
