"""VSE++, VSE0 and order embeddings as annotators: published files, vectors for pictures, training."""

import numpy as np
import pytest
import torch

from core.errors import CounterpartError
from corpus.models import Caption
from mitl.annotators import kind_of, load
from mitl.annotators.base import ComparingAnnotator
from mitl.annotators.vse.annotator import VSELearner, with_new_names
from mitl.annotators.vse.network import build, order_scores
from mitl.checkpoints import Checkpoints
from mitl.models import Annotator
from mitl.nn.recurrent import Pictures
from mitl.nn.vocabularies import Vocabulary
from mitl.registration import add_annotator
from mitl.training.learners import TrainingPlan
from tests.mitl.annotators.learned import QUICK, SMALL, annotator_of, colours_found, settings_of, trained_arrays
from tests.mitl.annotators.published import WORDS, write_checkpoint, write_vocabulary
from tests.mitl.regioned import write_regions
from tests.mitl.searches import retrieve

SIZES = {"trunk": "small", "embed": 16, "word": 8}
VECTOR = 6


@pytest.fixture
def vectors(colours, tmp_path):
    """A folder with a vector an image, and the vectors by key."""
    keys = list(colours.images.values_list("key", flat=True))
    rows = np.random.default_rng(0).normal(size=(len(keys), VECTOR)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    write_regions(tmp_path / "vectors", keys, rows)
    return tmp_path / "vectors", dict(zip(keys, rows, strict=True))


def make_network(**changed):
    torch.manual_seed(0)
    return build(settings_of("vse", **SIZES | changed), len(WORDS), VECTOR).eval()


def add(folder, network, *, training=None, **options) -> Annotator:
    path = write_checkpoint(folder, "vse", network, **(training or {}))
    options = {"vocabulary": str(write_vocabulary(folder)), **options}
    return add_annotator("annotator", kind="vse", checkpoint=path, options=options)


def test_a_published_file_becomes_an_annotator_that_searches(colours, tmp_path):
    network = make_network()
    annotator = add(tmp_path, network, picture=32)
    assert annotator.options | SIZES == annotator.options
    with torch.inference_mode():
        expected = network.embed_captions(torch.tensor([[1, 4, 12, 13, 2]]), torch.tensor([5]))
    np.testing.assert_allclose(load(annotator).encode_captions([Caption(text="A red square")]), expected, atol=1e-6)
    [search] = retrieve(colours, annotators=[annotator], depth=3)
    assert search.depth == 3


@pytest.mark.parametrize(
    ("training", "decided"),
    [
        ({"no_imgnorm": True, "measure": "cosine"}, {"normalise": "no", "score": "inner"}),
        ({"no_imgnorm": False, "measure": "order", "use_abs": True}, {"normalise": "yes", "score": "order"}),
    ],
)
def test_the_options_of_a_training_decide_what_shapes_cannot(db, tmp_path, training, decided):
    options = add(tmp_path, make_network(), training=training).options
    assert options | decided == options


def test_absolute_values_without_the_order_score_are_refused(db, tmp_path):
    with pytest.raises(CounterpartError, match="use_abs=True and measure=cosine; absolute values and the order score"):
        add(tmp_path, make_network(), training={"use_abs": True, "measure": "cosine"})
    assert not Annotator.objects.exists()


def test_an_annotator_of_vectors_reads_no_pictures(colours, tmp_path, vectors):
    folder, rows = vectors
    network = make_network(trunk="none")
    annotator = load(add(tmp_path, network, vectors=str(folder)))
    images = list(colours.images.order_by("-pk")[:4])
    assert not annotator.looks_at_pictures
    with torch.inference_mode():
        expected = network.embed_pictures(torch.from_numpy(np.stack([rows[image.key] for image in images])))
    np.testing.assert_allclose(annotator.encode_images(images), expected, atol=1e-6)


def test_vectors_that_are_missing_too_many_or_too_long_are_told(colours, tmp_path, vectors):
    folder, _ = vectors
    with pytest.raises(CounterpartError, match="pictures are vectors; pass --option vectors=FOLDER"):
        add(tmp_path, make_network(trunk="none"))
    with pytest.raises(CounterpartError, match="trunk small reads the pictures; leave the option vectors out"):
        add(tmp_path, make_network(), vectors=str(folder))
    write_regions(tmp_path / "long", ["red0"], np.ones((1, 9), np.float32))
    with pytest.raises(CounterpartError, match="has vectors of 9 numbers, but these weights need 6"):
        add(tmp_path, make_network(trunk="none"), vectors=str(tmp_path / "long"))
    assert not Annotator.objects.exists()


@pytest.mark.shared
def test_the_authors_layout_of_an_annotator_of_vectors_loads(shared, db, tmp_path):
    write_regions(tmp_path / "vectors", ["1"], np.ones((1, 10), np.float32))
    annotator = add_annotator(
        "annotator",
        kind="vse",
        checkpoint=shared / "fixtures" / "annotators" / "layouts" / "vsepp_checkpoint.pth.tar",
        options={"vocabulary": str(write_vocabulary(tmp_path, WORDS[:9])), "vectors": str(tmp_path / "vectors")},
    )
    decided = {"trunk": "none", "embed": 8, "word": 6, "normalise": "yes", "score": "inner"}
    assert annotator.options | decided == annotator.options


def test_the_oldest_files_of_vgg_get_the_newer_names():
    weight = np.ones((1, 1), np.float32)
    old = {
        "img_enc.cnn.classifier.1.weight": weight,
        "img_enc.cnn.classifier.4.weight": weight,
        "img_enc.fc.bias": weight,
    }
    new = {"img_enc.cnn.classifier.0.weight", "img_enc.cnn.classifier.3.weight", "img_enc.fc.bias"}
    assert set(with_new_names(old)) == new
    assert set(with_new_names(dict.fromkeys(new, weight))) == new


def test_vgg_reads_pictures_of_one_size():
    with pytest.raises(CounterpartError, match="vgg19 reads only pictures of 224 pixels"):
        build(settings_of("vse", trunk="vgg19", picture=64), 9)


def test_hals_captions_are_read_as_bytes(db, tmp_path):
    as_text = load(add(tmp_path, make_network())).encode_captions([Caption(text="b'a red square'")])
    Annotator.objects.all().delete()
    as_bytes = load(add(tmp_path, make_network(), captions="bytes")).encode_captions([Caption(text="A red square")])
    np.testing.assert_allclose(as_text, as_bytes, atol=1e-6)


def test_order_embeddings_are_compared_in_blocks(db, tmp_path):
    annotator = load(add(tmp_path, make_network(), training={"measure": "order"}))
    assert isinstance(annotator, ComparingAnnotator)
    rng = np.random.default_rng(0)
    images, captions = (rng.random((n, 8), dtype=np.float32) for n in (40, 1500))
    expected = order_scores(torch.from_numpy(images), torch.from_numpy(captions))
    np.testing.assert_allclose(annotator.compare(images, captions), expected, atol=1e-6)


@pytest.mark.parametrize(("score", "compares"), [("order", True), ("inner", False)])
def test_validation_compares_as_the_annotator_will(tmp_path, score, compares):
    settings = settings_of("vse", **SIZES)
    plan = TrainingPlan(settings, "max", 0, "cpu", Checkpoints(tmp_path))
    learner = VSELearner(make_network(score=score), Vocabulary(WORDS), Pictures(settings), plan)
    assert isinstance(learner.annotator(), ComparingAnnotator) is compares


@pytest.mark.parametrize(
    ("options", "loss"),
    [
        ({}, "max"),
        pytest.param({"normalise": "no", "score": "order"}, "sum", marks=pytest.mark.slow),
    ],
)
def test_it_learns_what_words_look_like(colours, options, loss):
    options = SMALL | QUICK | {"epochs": 2} | options
    annotator = load(annotator_of("vse", trained_arrays("vse", colours, loss=loss, **options), **options))
    assert colours_found(annotator, colours) >= 4 / 6


def test_it_learns_from_vectors(colours, vectors):
    options = SMALL | QUICK | {"epochs": 1, "trunk": "none", "vectors": str(vectors[0]), "frozen": "trunk"}
    annotator = load(annotator_of("vse", trained_arrays("vse", colours, loss="max", **options), **options))
    assert annotator.encode_images(list(colours.images.all())).shape == (30, 32)


@pytest.mark.slow
@pytest.mark.parametrize("loss", kind_of("vse").losses)
def test_every_loss_it_names_trains_it(few, loss):
    arrays = trained_arrays("vse", few, loss=loss, **SMALL | QUICK | {"epochs": 1})
    assert all(np.isfinite(array).all() for array in arrays.values() if array.dtype.kind == "f")


def test_the_same_seed_gives_the_same_weights(few):
    options = SMALL | QUICK | {"epochs": 1}
    first, again = (trained_arrays("vse", few, loss="max", **options) for _ in range(2))
    assert all(np.array_equal(first[name], again[name]) for name in first)
