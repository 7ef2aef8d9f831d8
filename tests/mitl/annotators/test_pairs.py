"""ViLT and BLIP as annotators: they score pairs, learn, and re-rank another annotator's lists."""

import numpy as np
import pytest
import torch
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from core.errors import CounterpartError
from corpus.models import Collection
from mitl.annotators import load, module_of
from mitl.annotators.base import Arrays, CrossEncoder
from mitl.annotators.blip import annotator as blip
from mitl.annotators.blip.annotator import BlipPairing
from mitl.annotators.vilt import annotator as vilt
from mitl.annotators.vilt.annotator import ViltPairing
from mitl.models import Direction
from mitl.nn.families import fresh_model
from mitl.nn.joint import JointEncoder, draw_captions
from mitl.registration import add_annotator
from mitl.search.gallery import load_lists
from mitl.search.request import Cascade
from mitl.training.trainer import train_annotator
from tests.factories import make_sample, picture
from tests.mitl.annotators.learned import annotator_of, colour_of, gallery, learned_once, settings_of, trained_arrays
from tests.mitl.annotators.transformers import TINY
from tests.mitl.pictured import COLOURS, make_coloured_collection
from tests.mitl.searches import retrieve

FAMILIES = {"vilt": (vilt.FAMILY, ViltPairing), "blip": (blip.FAMILY, BlipPairing)}


@pytest.fixture
def colours(db):
    return make_coloured_collection(train_each=2)


@pytest.fixture(params=FAMILIES)
def untrained(request, colours):
    torch.manual_seed(0)
    family, pairing = FAMILIES[request.param]
    settings = settings_of(request.param, **TINY[request.param] | {"picture": 32})
    model = fresh_model(family, settings, [caption.text for caption in colours.captions.all()], "cpu")
    return JointEncoder(model, pairing(model.network.eval()), 5)


def learned(kind: str, colours: Collection) -> Arrays:
    return learned_once(kind, colours, loss="itm", **TINY[kind] | {"epochs": 10})


def all_scores(annotator: CrossEncoder, images, captions):
    """Every pair of a gallery, in batches of the annotator's size."""
    ready = annotator.ready(images, captions)
    rows, columns = map(np.ravel, np.indices((len(images), len(captions))))
    starts = range(0, len(rows), annotator.batch_size)
    parts = [slice(start, start + annotator.batch_size) for start in starts]
    return np.concatenate([ready.pairs(rows[part], columns[part]) for part in parts]).reshape(len(images), -1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAMILIES)
def test_it_learns_which_captions_fit(colours, kind):
    annotator = module_of(kind).open_annotator(annotator_of(kind, learned(kind, colours), **TINY[kind]), "cpu")
    images, captions = gallery(colours)
    best = [captions[place] for place in all_scores(annotator, images, captions).argmax(1)]
    right = [colour_of(image.key) == colour_of(caption.key) for image, caption in zip(images, best, strict=True)]
    assert np.mean(right) >= 4 / len(COLOURS)


@pytest.mark.slow
def test_a_pair_scores_the_same_in_any_company(colours, untrained):
    images, captions = gallery(colours)
    together = all_scores(untrained, images, captions)
    assert together.dtype == np.float32
    for i, c in ((0, 3), (2, 1), (5, 11)):
        alone = untrained.ready([images[i]], [captions[c]]).pairs(np.array([0]), np.array([0]))
        np.testing.assert_allclose(alone[0], together[i, c], atol=1e-5)


def test_pictures_of_unlike_shapes_score_together_as_each_alone(colours, untrained):
    images, captions = gallery(colours)
    for image, colour, size in ((images[0], "red", (120, 36)), (images[1], "blue", (36, 90))):
        image.file = default_storage.save(f"{colour}.jpg", ContentFile(picture(colour, size)))
    together = all_scores(untrained, images[:2], captions[:3])
    alone = [all_scores(untrained, [image], [caption]) for image in images[:2] for caption in captions[:3]]
    np.testing.assert_allclose(together.ravel(), np.ravel(alone), atol=1e-5)


def test_the_last_picture_is_read_once(colours, untrained):
    images, captions = gallery(colours)
    ready = untrained.ready(images, captions)
    ready.pairs(np.array([0, 1]), np.array([0, 1]))
    for image in images:
        image.file = ""
    assert len(ready.pairs(np.array([1, 1]), np.array([2, 3]))) == 2
    with pytest.raises(CounterpartError, match=f"Image {images[0].key} has no picture file"):
        ready.pairs(np.array([0]), np.array([0]))


def test_vilt_ranks_anew_what_a_quick_annotator_listed(colours):
    words = add_annotator("words", kind="overlap")
    eyes = annotator_of("vilt", learned("vilt", colours), **TINY["vilt"])
    eyes.save()
    sample = make_sample(colours)
    sample.images.set(colours.images.filter(split="test"))
    sample.captions.set(colours.captions.filter(image__split="test"))
    (found,) = retrieve(colours, annotators=[eyes], sample=sample, depth=4, cascade=Cascade(words, 8))
    lists = load_lists(found)[Direction.IMAGE_TO_CAPTION]
    assert lists.items.shape == (6, 4)
    images = {row.pk: colour_of(row.key) for row in colours.images.all()}
    captions = {row.pk: colour_of(row.key) for row in colours.captions.all()}
    right = [images[image] == captions[item] for image, item in zip(lists.queries, lists.items[:, 0], strict=True)]
    assert np.mean(right) >= 4 / len(COLOURS)


def test_training_again_gives_the_same_bytes(colours):
    changed = TINY["vilt"] | {"epochs": 1}
    first, second = (trained_arrays("vilt", colours, loss="itm", **changed) for _ in range(2))
    assert all(array.tobytes() == second[name].tobytes() for name, array in first.items())


@pytest.mark.parametrize("kind", FAMILIES)
def test_its_page_tells_of_the_network(colours, kind):
    add_annotator("eyes", kind=kind, options=TINY[kind] | {"epochs": 0})
    told = train_annotator("eyes", collection=colours, loss="itm").architecture
    assert any("1 layers, width 32, 2 heads" in text for text in told.values())
    assert load(add_annotator("eyes", kind=kind, options=TINY[kind] | {"epochs": 0})).batch_size == 5


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


def test_a_small_batch_has_fewer_others():
    captions, allowed = draw_captions(torch.zeros(2, 2, dtype=torch.bool), 15)
    assert captions.tolist() == [[0, 1], [1, 0]]
    assert allowed.all()
