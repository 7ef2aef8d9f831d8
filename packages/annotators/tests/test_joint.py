"""ViLT and BLIP: they score pairs, and learn."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from coloured import COLOURS, colour_of, gallery, learned_once, opened, training_set
from counterpart_annotators.base import CrossEncoder
from counterpart_annotators.kinds.blip.annotator import BlipPairing
from counterpart_annotators.kinds.vilt.annotator import ViltPairing
from counterpart_annotators.nn.families import fresh_model
from counterpart_annotators.nn.joint import JointEncoder, draw_captions
from counterpart_metrics.errors import CounterpartError
from pretrained import module_of, settings_of
from tiny_transformers import TINY

PAIRINGS = {"vilt": ViltPairing, "blip": BlipPairing}


@pytest.fixture(params=PAIRINGS)
def untrained(request):
    torch.manual_seed(0)
    settings = settings_of(request.param, **TINY[request.param] | {"picture": 32})
    texts = [caption.text for caption in training_set().captions]
    model = fresh_model(module_of(request.param).FAMILY, settings, texts, "cpu")
    return JointEncoder(model, PAIRINGS[request.param](model.network.eval()), 5)


def all_scores(annotator: CrossEncoder, images, captions):
    """Every pair of a gallery, in batches of the annotator's size."""
    ready = annotator.ready(images, captions)
    rows, columns = map(np.ravel, np.indices((len(images), len(captions))))
    starts = range(0, len(rows), annotator.batch_size)
    parts = [slice(start, start + annotator.batch_size) for start in starts]
    return np.concatenate([ready.pairs(rows[part], columns[part]) for part in parts]).reshape(len(images), -1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", PAIRINGS)
def test_it_learns_which_captions_fit(kind):
    annotator = opened(kind, learned_once(kind, loss="itm", each=2, **TINY[kind] | {"epochs": 10}), **TINY[kind])
    images, captions = gallery()
    best = [captions[place] for place in all_scores(annotator, images, captions).argmax(1)]
    right = [colour_of(image.key) == colour_of(caption.key) for image, caption in zip(images, best, strict=True)]
    assert np.mean(right) >= 4 / len(COLOURS)


@pytest.mark.slow
def test_a_pair_scores_the_same_in_any_company(untrained):
    images, captions = gallery()
    together = all_scores(untrained, images, captions)
    assert together.dtype == np.float32
    for i, c in ((0, 3), (2, 1), (5, 11)):
        alone = untrained.ready([images[i]], [captions[c]]).pairs(np.array([0]), np.array([0]))
        np.testing.assert_allclose(alone[0], together[i, c], atol=1e-5)


def test_pictures_of_unlike_shapes_score_together_as_each_alone(untrained):
    images, captions = gallery()
    images = [replace(images[0], size=(120, 36)), replace(images[1], size=(36, 90))]
    together = all_scores(untrained, images, captions[:3])
    alone = [all_scores(untrained, [image], [caption]) for image in images for caption in captions[:3]]
    np.testing.assert_allclose(together.ravel(), np.ravel(alone), atol=1e-5)


def test_the_last_picture_is_read_once(untrained):
    images, captions = gallery()
    ready = untrained.ready(images, captions)
    ready.pairs(np.array([0, 1]), np.array([0, 1]))
    images[:] = [replace(image, file="") for image in images]
    assert len(ready.pairs(np.array([1, 1]), np.array([2, 3]))) == 2
    with pytest.raises(CounterpartError, match=f"Image {images[0].key} "):
        ready.pairs(np.array([0]), np.array([0]))


def test_own_captions_come_first_and_known_ones_never_count():
    known = torch.tensor([[0, 1, 0, 0], [0, 0, 0, 0], [1, 1, 0, 1], [0, 0, 0, 0]], dtype=torch.bool)
    for seed in range(20):
        torch.manual_seed(seed)
        captions, allowed = draw_captions(known, 2)
        assert captions.shape == (4, 3)
        assert captions[:, 0].tolist() == [0, 1, 2, 3]
        assert all(len(set(row)) == 3 for row in captions.tolist())
        assert allowed[:, 0].all()
        assert not allowed[2, 1:].any()
        assert set(captions[0, 1:].tolist()) == {2, 3}
        assert allowed[0].all()
