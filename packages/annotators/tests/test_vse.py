"""VSE++ and order embeddings: vectors for pictures, captions as bytes, scores."""

import numpy as np
import pytest
import torch

from coloured import gallery, images_and_captions, opened
from counterpart_annotators.base import ComparingAnnotator
from counterpart_annotators.kinds.vse.annotator import VSELearner, embedder, with_new_names
from counterpart_annotators.kinds.vse.network import build, order_scores
from counterpart_annotators.nn.recurrent import Model, Pictures
from counterpart_annotators.nn.vocabularies import Vocabulary
from counterpart_annotators.plain import PlainCaption
from counterpart_metrics.errors import CounterpartError
from pretrained import settings_of
from published import VECTOR, WORDS, adopted_from, make_network, write_checkpoint, write_vocabulary
from regioned import write_regions


@pytest.fixture
def vectors(tmp_path):
    """A folder with a vector an image, and the vectors by key."""
    keys = [image.key for image in images_and_captions(*range(5))[0]]
    rows = np.random.default_rng(0).normal(size=(len(keys), VECTOR)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    write_regions(tmp_path / "vectors", keys, rows)
    return tmp_path / "vectors", dict(zip(keys, rows, strict=True))


def adopted(folder, network, *, training=None, **options):
    path = write_checkpoint(folder, "vse", network, **(training or {}))
    return adopted_from(path, "vse", vocabulary=str(write_vocabulary(folder)), **options)


def published(folder, network, **how):
    found = adopted(folder, network, **how)
    return opened("vse", found.arrays, **found.settings)


def test_an_annotator_of_vectors_reads_no_pictures(tmp_path, vectors):
    folder, rows = vectors
    network = make_network("vse", trunk="none")
    annotator = published(tmp_path, network, vectors=str(folder))
    images = gallery()[0][:4]
    assert not annotator.looks_at_pictures
    with torch.inference_mode():
        expected = network.embed_pictures(torch.from_numpy(np.stack([rows[image.key] for image in images])))
    np.testing.assert_allclose(annotator.encode_images(images), expected, atol=1e-6)


def test_vectors_that_are_missing_too_many_or_too_long_are_refused(tmp_path, vectors):
    folder, _ = vectors
    with pytest.raises(CounterpartError, match="--option vectors=FOLDER"):
        adopted(tmp_path, make_network("vse", trunk="none"))
    with pytest.raises(CounterpartError, match="trunk small"):
        adopted(tmp_path, make_network("vse"), vectors=str(folder))
    write_regions(tmp_path / "long", ["red0"], np.ones((1, 9), np.float32))
    with pytest.raises(CounterpartError, match="9 numbers, .* 6"):
        adopted(tmp_path, make_network("vse", trunk="none"), vectors=str(tmp_path / "long"))


@pytest.mark.shared
def test_the_authors_layout_of_an_annotator_of_vectors_loads(shared, tmp_path):
    write_regions(tmp_path / "vectors", ["1"], np.ones((1, 10), np.float32))
    settings = adopted_from(
        shared / "fixtures" / "annotators" / "layouts" / "vsepp_checkpoint.pth.tar",
        "vse",
        vocabulary=str(write_vocabulary(tmp_path, WORDS[:9])),
        vectors=str(tmp_path / "vectors"),
    ).settings
    decided = {"trunk": "none", "embed": 8, "word": 6, "normalise": "yes", "score": "inner"}
    assert settings | decided == settings


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
    with pytest.raises(CounterpartError, match="224 pixels"):
        build(settings_of("vse", trunk="vgg19", picture=64), 9)


def test_hals_captions_are_read_as_bytes(tmp_path):
    as_text = published(tmp_path, make_network("vse")).encode_captions([PlainCaption("0", "b'a red square'")])
    reader = published(tmp_path, make_network("vse"), captions="bytes")
    np.testing.assert_allclose(as_text, reader.encode_captions([PlainCaption("0", "A red square")]), atol=1e-6)


def test_order_embeddings_are_compared_in_blocks(tmp_path):
    annotator = published(tmp_path, make_network("vse"), training={"measure": "order"})
    assert isinstance(annotator, ComparingAnnotator)
    rng = np.random.default_rng(0)
    images, captions = (rng.random((n, 8), dtype=np.float32) for n in (40, 1500))
    expected = order_scores(torch.from_numpy(images), torch.from_numpy(captions))
    np.testing.assert_allclose(annotator.compare(images, captions), expected, atol=1e-6)


@pytest.mark.parametrize(("score", "compares"), [("order", True), ("inner", False)])
def test_validation_compares_as_the_annotator_will(score, compares):
    settings = settings_of("vse")
    model = Model(make_network("vse", score=score), settings, Vocabulary(WORDS), Pictures(settings), "cpu")
    assert isinstance(VSELearner(model, "max", embedder).annotator(), ComparingAnnotator) is compares
