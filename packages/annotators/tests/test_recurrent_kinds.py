"""PVSE, PCME, VSE++, VSRN and IMRAM: their published files, what is wrong with them, and training."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from coloured import QUICK, SMALL, colours_found, gallery, opened, trained_arrays, training_set
from counterpart_annotators.base import Adopted
from counterpart_annotators.nn.vocabularies import Vocabulary
from counterpart_annotators.plain import PlainCaption
from counterpart_metrics.errors import CounterpartError
from published import SIZES, WORDS, adopted_from, make_network, write_checkpoint, write_vocabulary
from regioned import make_regions

QUICKLY = SMALL | QUICK
LEARNING = {
    "pvse": ("pvse", {"embeddings": 2, "epochs": 2}),
    "vse": ("max", {"epochs": 2}),
    "pcme": ("pcme", {"log_sigma": -3.0, "shift": 5.0, "negative_scale": 5.0, "samples": 3, "epochs": 4}),
    "vsrn": ("sum", {"picture": 64, "captioner": 0, "epochs": 3}),
    "imram": ("sum", {"picture": 64, "epochs": 4}),
}
SLOW = [pytest.param(kind, marks=pytest.mark.slow) if kind in ("pcme", "vsrn", "imram") else kind for kind in LEARNING]
CAPTIONS = [
    PlainCaption(str(place), text)
    for place, text in enumerate(("a red square", "a", "all of it is blue, and not a square of white"))
]


LAYOUT = {"pvse": "plain", "vse": "vse", "vsrn": "vse"}


@pytest.fixture
def adopt(tmp_path) -> Callable[..., Adopted]:
    """Read a published file of a kind, which ``spoil`` may change first."""
    make_regions(tmp_path / "regions", [image.key for image in gallery()[0]])

    def adopt_published(kind, *, layout="", spoil=lambda state: None, words=WORDS, training=None, **options):
        network = make_network(kind)
        state = network.state_dict()
        spoil(state)
        network.state_dict = lambda: state
        path = write_checkpoint(tmp_path, layout or LAYOUT[kind], network, **(training or {}))
        pictures = {"regions": str(tmp_path / "regions")} if kind == "vsrn" else {"picture": 32}
        given = {"vocabulary": str(write_vocabulary(tmp_path, words))} | pictures | options
        return adopted_from(path, kind, **given)

    return adopt_published


@pytest.mark.parametrize(("kind", "layout"), [("pvse", "training"), ("pvse", "old list"), ("vse", ""), ("vsrn", "")])
def test_a_published_file_gives_the_network_that_wrote_it(adopt, kind, layout):
    adopted = adopt(kind, layout=layout)
    assert adopted.settings | SIZES[kind] == adopted.settings
    with torch.inference_mode():
        expected = make_network(kind).embed_captions(torch.tensor([[1, 4, 12, 13, 2]]), torch.tensor([5]))
    found = opened(kind, adopted.arrays, **adopted.settings).encode_captions(CAPTIONS[:1])
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("kind", ["pvse", "vsrn"])
def test_embeddings_do_not_depend_on_the_company(adopt, kind):
    adopted = adopt(kind)
    annotator, images = opened(kind, adopted.arrays, **adopted.settings), gallery()[0]
    for encode, items in ((annotator.encode_images, images), (annotator.encode_captions, CAPTIONS)):
        together = encode(items)
        assert together.dtype == np.float32
        np.testing.assert_allclose(together, np.concatenate([encode([item]) for item in items]), atol=1e-6)


@pytest.mark.parametrize(("legacy", "reading"), [(True, "legacy"), (False, "final")])
def test_the_options_of_a_training_decide_how_captions_are_read(adopt, legacy, reading):
    assert adopt("pvse", layout="training", training={"legacy": legacy}).settings["reading"] == reading


@pytest.mark.parametrize(
    ("training", "decided"),
    [
        ({"no_imgnorm": True, "measure": "cosine"}, {"normalise": "no", "score": "inner"}),
        ({"no_imgnorm": False, "measure": "order", "use_abs": True}, {"normalise": "yes", "score": "order"}),
    ],
)
def test_the_options_of_a_training_decide_what_shapes_cannot(adopt, training, decided):
    settings = adopt("vse", training=training).settings
    assert settings | decided == settings


def drop(name):
    return lambda state: state.pop(name)


def add(name, *shape):
    return lambda state: state.update({name: torch.ones(*shape)})


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        ("pvse", {"spoil": drop("img_enc.fc.bias")}, "1 missing: img_enc.fc.bias"),
        ("pvse", {"spoil": drop("img_enc.fc.weight")}, "tensor img_enc.fc.weight"),
        ("pvse", {"spoil": add("img_enc.cnn.layer2.1.conv1.weight", 1)}, "1-2-1-1 blocks, 16 wide"),
        ("pvse", {"words": WORDS[:-1]}, "15 words, but .* 16"),
        ("pvse", {"vocabulary": ""}, "--option vocabulary=FILE"),
        ("pvse", {"layout": "training", "training": {"order": True}}, "order embeddings"),
        ("vse", {"training": {"use_abs": True, "measure": "cosine"}}, "use_abs=True and measure=cosine"),
        ("vsrn", {"regions": ""}, "--option regions=FOLDER"),
        ("vsrn", {"regions": "nowhere"}, "nowhere has no region features"),
        ("vsrn", {"spoil": add("img_enc.bn.weight", 16)}, "3 missing: img_enc.bn.bias"),
        ("vsrn", {"training": {"no_imgnorm": True}}, "no_imgnorm"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(adopt, kind, arguments, message):
    with pytest.raises(CounterpartError, match=message) as raised:
        adopt(kind, **arguments)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("kind", SLOW)
def test_it_learns_what_words_look_like(kind):
    loss, changed = LEARNING[kind]
    options = QUICKLY | changed
    assert colours_found(opened(kind, trained_arrays(kind, loss=loss, **options), **options)) >= 4 / 6


@pytest.mark.parametrize("kind", SLOW)
def test_the_same_seed_gives_the_same_weights(kind):
    loss, changed = LEARNING[kind]
    options = QUICKLY | changed | {"epochs": 1} | ({"captioner": 8} if kind == "vsrn" else {})
    first, again, other = (trained_arrays(kind, loss=loss, seed=seed, each=1, **options) for seed in (0, 0, 1))
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not np.array_equal(first["network.txt_enc.embed.weight"], other["network.txt_enc.embed.weight"])


def test_its_words_are_those_of_the_training_captions():
    words = trained_arrays("pvse", loss="pvse", **QUICKLY | {"epochs": 0})["words"]
    assert tuple(words) == Vocabulary.learn([caption.text for caption in training_set().captions]).words


def test_words_that_are_too_rare_to_learn_from_are_refused():
    with pytest.raises(CounterpartError, match="2 words occur 100 times"):
        trained_arrays("pvse", loss="pvse", **SMALL | {"rarest": 100})
