"""PVSE as an annotator: published files, what is wrong with them, training."""

import numpy as np
import pytest
import torch
from django.core.files.storage import default_storage

from core.errors import CounterpartError
from corpus.models import Caption
from mitl.annotators import load
from mitl.annotators.pvse.network import build
from mitl.models import Annotator
from mitl.registration import add_annotator
from tests.mitl.annotators.learned import QUICK, SMALL, annotator_of, colours_found, settings_of, trained_arrays
from tests.mitl.annotators.published import WORDS, write_checkpoint, write_vocabulary

SIZES = {"trunk": "small", "embed": 16, "word": 8, "embeddings": 2}


@pytest.fixture
def network():
    torch.manual_seed(0)
    return build(settings_of("pvse", **SIZES), len(WORDS)).eval()


@pytest.fixture
def add(db, tmp_path, network):
    """Add an annotator from a published file, which ``spoil`` may change first."""

    def add_published(layout="plain", spoil=lambda state: None, words=WORDS, training=None, **options):
        state = network.state_dict()
        spoil(state)
        network.state_dict = lambda: state
        path = write_checkpoint(tmp_path, layout, network, **(training or {}))
        options = {"vocabulary": str(write_vocabulary(tmp_path, words)), "picture": "32"} | options
        return add_annotator("annotator", kind="pvse", checkpoint=path, options=options)

    return add_published


@pytest.mark.parametrize("layout", ["training", "old list"])
def test_published_layouts_give_the_same_annotator(add, network, colours, layout):
    captions = list(colours.captions.all()[:3])
    ids = torch.tensor([[1, 4, 12, 13, 2]])
    annotator = add(layout)
    assert annotator.options | SIZES == annotator.options
    with torch.inference_mode():
        expected = network.embed_captions(ids, torch.tensor([5]))
    np.testing.assert_allclose(load(annotator).encode_captions(captions)[:1], expected, atol=1e-6)


@pytest.mark.parametrize(("legacy", "reading"), [(True, "legacy"), (False, "final")])
def test_the_options_of_a_training_tell_how_captions_are_read(add, legacy, reading):
    assert add("training", training={"legacy": legacy}).options["reading"] == reading


def drop(name):
    return lambda state: state.pop(name)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"spoil": drop("img_enc.fc.bias")}, "does not fit this network of .* 1 missing: img_enc.fc.bias"),
        ({"spoil": drop("img_enc.fc.weight")}, "lacks the tensor img_enc.fc.weight; it has weights of another kind"),
        (
            {"spoil": lambda state: state.update({"img_enc.cnn.layer2.1.conv1.weight": torch.ones(1)})},
            "a trunk of 1-2-1-1 blocks, 16 wide; known are resnet152",
        ),
        ({"words": WORDS[:-1]}, "15words.pkl has 15 words, but .* was trained with 16; pass the vocabulary"),
        ({"vocabulary": ""}, "contains no words; pass --option vocabulary=FILE"),
        ({"layout": "training", "training": {"order": True}}, "was trained with order embeddings"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line_and_leaves_nothing(add, arguments, message):
    with pytest.raises(CounterpartError, match=message) as raised:
        add(**arguments)
    assert "\n" not in str(raised.value)
    assert not Annotator.objects.exists()
    assert not default_storage.exists("annotators")


def test_embeddings_do_not_depend_on_the_company(add, colours):
    annotator, images = load(add()), list(colours.images.all()[:5])
    captions = [Caption(text=text) for text in ("a red square", "a", "all of it is blue, and not a square of white")]
    together = annotator.encode_images(images), annotator.encode_captions(captions)
    for rows, encode, items in zip(
        together, (annotator.encode_images, annotator.encode_captions), (images, captions), strict=True
    ):
        assert rows.dtype == np.float32
        np.testing.assert_allclose(rows, np.concatenate([encode([item]) for item in items]), atol=1e-6)


def test_it_learns_what_words_look_like(colours):
    options = SMALL | QUICK | {"embeddings": 2, "epochs": 2}
    annotator = load(annotator_of("pvse", trained_arrays("pvse", colours, loss="pvse", **options), **options))
    assert colours_found(annotator, colours) >= 4 / 6


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "heads"), [("pvse", 1), ("sum", 2), ("max", 1)])
def test_its_own_loss_and_others_train_one_embedding_and_several(few, loss, heads):
    options = SMALL | QUICK | {"embeddings": heads, "epochs": 1}
    arrays = trained_arrays("pvse", few, loss=loss, **options)
    assert all(np.isfinite(array).all() for array in arrays.values() if array.dtype.kind == "f")


def test_the_same_seed_gives_the_same_weights(few):
    options = SMALL | QUICK | {"epochs": 1}
    first, again, other = (trained_arrays("pvse", few, loss="pvse", seed=seed, **options) for seed in (0, 0, 1))
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not np.array_equal(first["network.txt_enc.embed.weight"], other["network.txt_enc.embed.weight"])


def test_a_frozen_trunk_must_have_been_trained(few):
    with pytest.raises(CounterpartError, match="A frozen trunk must have been trained: pass --option trunk_from=FILE"):
        trained_arrays("pvse", few, loss="pvse", **SMALL | {"frozen": "trunk"})


def test_words_that_are_too_rare_to_learn_from_are_told(colours):
    with pytest.raises(CounterpartError, match="Fewer than 2 words occur 100 times in the 48 training captions"):
        trained_arrays("pvse", colours, loss="pvse", **SMALL | {"rarest": 100})


def test_a_given_vocabulary_is_kept(few, tmp_path):
    options = SMALL | QUICK | {"epochs": 0, "vocabulary": str(write_vocabulary(tmp_path))}
    assert tuple(trained_arrays("pvse", few, loss="pvse", **options)["words"]) == WORDS
