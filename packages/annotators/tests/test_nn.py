"""The nearest-neighbour annotator on plain pictures whose captions name their colours."""

import numpy as np
import pytest

from coloured import (
    TRAIN_EACH,
    colour_of,
    gallery,
    images_and_captions,
    learned_once,
    opened,
)
from counterpart_annotators.plain import TO_CAPTIONS, TO_IMAGES

FEW_WORDS = {"colour_words": 16, "texture_words": 8, "sift_words": 4, "picture": 48}


def trained(**options):
    return opened("nn", learned_once("nn", **FEW_WORDS, **options), **FEW_WORDS, **options)


@pytest.mark.parametrize("text", ["f1", "bow5", "tri5"])
def test_it_finds_colours_both_ways(text):
    annotator = trained(text=text)
    images, captions = gallery()
    places, scores = annotator.lists_of(TO_CAPTIONS, images, captions)
    assert [colour_of(captions[place].key) for place in places[:, 0]] == [colour_of(image.key) for image in images]
    assert (np.diff(scores) <= 0).all()
    places, _ = annotator.lists_of(TO_IMAGES, captions, images)
    assert [colour_of(images[place].key) for place in places[:, 0]] == [colour_of(c.key) for c in captions]


def test_a_caption_asks_for_images_like_that_of_the_nearest_captions():
    """Eq. 2: f(i, s) = f_I(i_NN, i) for the training pair whose captions are most like s."""
    annotator = trained()
    images, captions = gallery()
    _, scores = annotator.lists_of(TO_IMAGES, captions[:1], images)
    learned, _ = images_and_captions(*range(TRAIN_EACH))
    nearest = next(image for image in learned if colour_of(image.key) == colour_of(captions[0].key))
    by_hand = np.minimum(annotator._pictures.read([nearest]), annotator._pictures.read(images)).sum(1)
    assert np.allclose(np.sort(by_hand)[::-1], scores[0], atol=1e-5)
