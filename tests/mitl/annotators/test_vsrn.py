"""VSRN as an annotator: published files of both variants, regions from files and from pictures, training."""

import numpy as np
import pytest
import torch
from django.core.files.storage import default_storage

from core.errors import CounterpartError
from corpus.models import Caption
from mitl.annotators import load
from mitl.annotators.vsrn.network import build
from mitl.models import Annotator
from mitl.nn.vocabularies import Vocabulary
from mitl.registration import add_annotator
from tests.mitl.annotators.learned import (
    QUICK,
    SMALL,
    annotator_of,
    colour_of,
    colours_found,
    settings_of,
    trained_arrays,
)
from tests.mitl.annotators.published import WORDS, write_checkpoint, write_vocabulary
from tests.mitl.nn.authors import FOLDER
from tests.mitl.pictured import COLOURS, make_coloured_collection
from tests.mitl.regioned import CHANNELS, REGIONS, make_regions, write_regions
from tests.mitl.searches import retrieve

SIZES = {"embed": 16, "word": 8}
VARIANTS = ("coco", "f30k")
SMALL_VSRN = SMALL | QUICK | {"picture": 64, "captioner": 0}


@pytest.fixture
def regions(colours, tmp_path):
    """A folder with the regions of all images of the collection, as far from each other as their colours."""
    images = list(colours.images.all())
    rng = np.random.default_rng(0)
    of_colour = rng.random((len(COLOURS), REGIONS, CHANNELS))
    features = np.stack([of_colour[COLOURS.index(colour_of(image.key))] for image in images])
    features += 0.1 * rng.random(features.shape)
    write_regions(tmp_path / "regions", [image.key for image in images], features.astype(np.float32))
    return tmp_path / "regions"


def make_network(variant="coco"):
    torch.manual_seed(0)
    network = build(settings_of("vsrn", variant=variant, **SIZES), len(WORDS), CHANNELS)
    for block in range(1, 5):
        torch.nn.init.normal_(network.img_enc.get_submodule(f"Rs_GCN_{block}").W[1].weight)
    return network.eval()


@pytest.fixture
def add(db, tmp_path, regions):
    """Add an annotator from a published file, which ``spoil`` may change first."""

    def add_published(variant="coco", spoil=lambda state: None, words=WORDS, training=None, **options):
        network = make_network(variant)
        state = network.state_dict()
        spoil(state)
        network.state_dict = lambda: state
        path = write_checkpoint(tmp_path, "vse", network, **{"data_name": "coco_precomp"} | (training or {}))
        options = {"vocabulary": str(write_vocabulary(tmp_path, words)), "regions": str(regions)} | options
        return add_annotator("annotator", kind="vsrn", checkpoint=path, options=options)

    return add_published


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_published_file_gives_the_network_that_wrote_it(add, colours, regions, variant):
    annotator = add(variant)
    assert {name: annotator.options[name] for name in ("variant", *SIZES)} == {"variant": variant, **SIZES}
    image, caption = colours.images.first(), Caption(text="a red square")
    features = np.load(regions / "test_ims.npy")[:1]
    with torch.inference_mode():
        rows = make_network(variant).embed_pictures(torch.from_numpy(features))
        columns = make_network(variant).embed_captions(torch.tensor([[1, 4, 12, 13, 2]]), torch.tensor([5]))
    np.testing.assert_allclose(load(annotator).encode_images([image]), rows, atol=1e-6)
    np.testing.assert_allclose(load(annotator).encode_captions([caption]), columns, atol=1e-6)


@pytest.mark.shared
def test_the_authors_file_becomes_an_annotator(db, shared, tmp_path):
    write_regions(tmp_path / "regions", ["1"], np.ones((1, 36, 10), np.float32))
    words = write_vocabulary(tmp_path, WORDS[:9])
    annotator = add_annotator(
        "annotator",
        kind="vsrn",
        checkpoint=shared / FOLDER / "layouts" / "vsrn_checkpoint_python2_strings.pth.tar",
        options={"vocabulary": str(words), "regions": str(tmp_path / "regions")},
    )
    assert annotator.architecture["pictures"] == "regions from files, 10 numbers each"
    assert (annotator.options["embed"], annotator.options["word"], annotator.options["variant"]) == (8, 6, "coco")
    assert load(annotator).encode_captions([Caption(text="a")]).shape == (1, 8)


def test_a_published_annotator_searches_a_collection_without_its_pictures(add, colours):
    colours.images.update(file="")
    [search] = retrieve(colours, annotators=[add()], depth=3)
    assert search.annotator.architecture["pictures"] == "regions from files, 8 numbers each"


def test_embeddings_do_not_depend_on_the_company(add, colours):
    annotator, images = load(add()), list(colours.images.all()[:5])
    captions = [Caption(text=text) for text in ("a red square", "a", "all of it is blue, and not a square of white")]
    for encode, items in ((annotator.encode_images, images), (annotator.encode_captions, captions)):
        np.testing.assert_allclose(encode(items), np.concatenate([encode([item]) for item in items]), atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"regions": ""}, "was trained on region features of a detector; pass --option regions=FOLDER"),
        ({"regions": "nowhere"}, "nowhere has no region features"),
        ({"variant": "coco", "spoil": lambda state: state.pop("img_enc.fc.bias")}, "1 missing: img_enc.fc.bias"),
        ({"spoil": lambda state: state.update({"img_enc.bn.weight": torch.ones(16)})}, "3 missing: img_enc.bn.bias"),
        ({"training": {"no_imgnorm": True}}, "was trained with no_imgnorm, which no published VSRN was"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line_and_leaves_nothing(add, arguments, message):
    with pytest.raises(CounterpartError, match=message) as raised:
        add(**arguments)
    assert "\n" not in str(raised.value)
    assert not Annotator.objects.exists()
    assert not default_storage.exists("annotators")


def test_regions_of_another_length_are_refused(add, tmp_path):
    write_regions(tmp_path / "longer", ["1"], np.ones((1, REGIONS, CHANNELS + 1), np.float32))
    with pytest.raises(CounterpartError, match="has regions of 9 numbers, but .* was trained on 8; pass the folder"):
        add(regions=str(tmp_path / "longer"))


def test_regions_that_changed_after_the_annotator_was_added_are_refused(add, colours, regions):
    annotator = add()
    features = np.load(regions / "test_ims.npy")
    np.save(regions / "test_ims.npy", features[::-1].copy())
    with pytest.raises(CounterpartError, match="was changed after the annotator was added, in 2 images"):
        load(annotator).encode_images(colours.images.all()[:2])


@pytest.mark.slow
def test_it_learns_from_regions(colours, regions):
    options = SMALL_VSRN | {"regions": str(regions), "epochs": 6, "frozen": "trunk"}
    arrays = trained_arrays("vsrn", colours, loss="sum", **options)
    annotator = load(annotator_of("vsrn", arrays, **options))
    assert not annotator.looks_at_pictures
    assert colours_found(annotator, colours) >= 5 / 6
    assert not any("cnn" in name for name in arrays)


def test_images_without_regions_are_told_before_any_training(colours, tmp_path):
    make_regions(tmp_path / "few", ["red0", "red1"])
    options = SMALL_VSRN | {"regions": str(tmp_path / "few")}
    with pytest.raises(CounterpartError, match="lacks 22 of 24 images: red2, red3, green0"):
        trained_arrays("vsrn", colours, loss="max", **options)


@pytest.mark.slow
def test_it_learns_from_pictures_alone(colours):
    options = SMALL_VSRN | {"epochs": 3}
    annotator = load(annotator_of("vsrn", trained_arrays("vsrn", colours, loss="sum", **options), **options))
    assert annotator.looks_at_pictures
    assert colours_found(annotator, colours) >= 4 / 6


@pytest.mark.slow
def test_the_same_seed_gives_the_same_weights(db):
    few = make_coloured_collection(train_each=1)
    options = SMALL_VSRN | {"epochs": 2, "captioner": 8}
    first, again, other = (trained_arrays("vsrn", few, loss="max", seed=seed, **options) for seed in (0, 0, 1))
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not np.array_equal(first["network.img_enc.fc.weight"], other["network.img_enc.fc.weight"])


@pytest.mark.slow
def test_telling_captions_changes_what_is_learned_of_pictures(colours, regions):
    options = SMALL_VSRN | {"regions": str(regions), "epochs": 1}
    silent, telling = (
        trained_arrays("vsrn", colours, loss="max", **options | {"captioner": units}) for units in (0, 8)
    )
    assert silent.keys() == telling.keys(), "what tells captions is of no use afterwards"
    assert not np.array_equal(silent["network.img_enc.fc.weight"], telling["network.img_enc.fc.weight"])


def test_its_words_are_those_of_the_training_captions(colours, regions):
    arrays = trained_arrays("vsrn", colours, loss="max", **SMALL_VSRN | {"regions": str(regions), "epochs": 0})
    captions = [caption.text for caption in colours.captions.filter(image__split="train")]
    assert tuple(arrays["words"]) == Vocabulary.learn(captions).words
