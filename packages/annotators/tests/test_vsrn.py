"""VSRN: published files of both variants, regions from files and from pictures, captions generated in training."""

import numpy as np
import pytest
import torch

from authors import FOLDER
from coloured import COLOURS, QUICK, SMALL, colour_of, colours_found, images_and_captions, opened, trained_arrays
from counterpart_annotators.plain import PlainCaption
from counterpart_metrics.errors import CounterpartError
from pretrained import module_of
from published import SIZES, WORDS, adopted_from, make_network, write_checkpoint, write_vocabulary
from regioned import CHANNELS, REGIONS, make_regions, write_regions

SMALL_VSRN = SMALL | QUICK | {"picture": 64, "captioner": 0}
IMAGES = images_and_captions(*range(5))[0]


@pytest.fixture
def regions(tmp_path):
    """A folder with the regions of all images, as far from each other as their colours."""
    rng = np.random.default_rng(0)
    of_colour = rng.random((len(COLOURS), REGIONS, CHANNELS))
    features = np.stack([of_colour[COLOURS.index(colour_of(image.key))] for image in IMAGES])
    features += 0.1 * rng.random(features.shape)
    write_regions(tmp_path / "regions", [image.key for image in IMAGES], features.astype(np.float32))
    return tmp_path / "regions"


def adopted(folder, regions, variant="coco"):
    path = write_checkpoint(folder, "vse", make_network("vsrn", variant=variant), data_name="coco_precomp")
    return adopted_from(path, "vsrn", vocabulary=str(write_vocabulary(folder)), regions=str(regions))


@pytest.mark.parametrize("variant", ["coco", "f30k"])
def test_a_published_file_gives_the_network_that_wrote_it(tmp_path, regions, variant):
    found = adopted(tmp_path, regions, variant)
    assert found.settings | SIZES["vsrn"] | {"variant": variant} == found.settings
    features = np.load(regions / "test_ims.npy")[:1]
    with torch.inference_mode():
        rows = make_network("vsrn", variant=variant).embed_pictures(torch.from_numpy(features))
    annotator = opened("vsrn", found.arrays, **found.settings)
    np.testing.assert_allclose(annotator.encode_images(IMAGES[:1]), rows, atol=1e-6)


@pytest.mark.shared
def test_the_authors_file_becomes_an_annotator(shared, tmp_path):
    write_regions(tmp_path / "regions", ["1"], np.ones((1, 36, 10), np.float32))
    found = adopted_from(
        shared / FOLDER / "layouts" / "vsrn_checkpoint_python2_strings.pth.tar",
        "vsrn",
        vocabulary=str(write_vocabulary(tmp_path, WORDS[:9])),
        regions=str(tmp_path / "regions"),
    )
    described = module_of("vsrn").architecture(found.settings, found.arrays)
    assert described["pictures"] == "regions from files, 10 numbers each"
    assert (found.settings["embed"], found.settings["word"], found.settings["variant"]) == (8, 6, "coco")
    assert opened("vsrn", found.arrays, **found.settings).encode_captions([PlainCaption("0", "a")]).shape == (1, 8)


def test_regions_of_another_length_are_refused(tmp_path):
    write_regions(tmp_path / "longer", ["1"], np.ones((1, REGIONS, CHANNELS + 1), np.float32))
    with pytest.raises(CounterpartError, match="9 numbers, but .* 8"):
        adopted(tmp_path, tmp_path / "longer")


@pytest.mark.slow
def test_it_learns_from_regions(regions):
    options = SMALL_VSRN | {"regions": str(regions), "epochs": 6, "frozen": "trunk"}
    arrays = trained_arrays("vsrn", loss="sum", **options)
    annotator = opened("vsrn", arrays, **options)
    assert not annotator.looks_at_pictures
    assert colours_found(annotator) >= 5 / 6
    assert not any("cnn" in name for name in arrays)


def test_images_without_regions_are_refused_before_any_training(tmp_path):
    make_regions(tmp_path / "few", ["red0", "red1"])
    with pytest.raises(CounterpartError, match="22 of 24 images: red2"):
        trained_arrays("vsrn", loss="max", **SMALL_VSRN | {"regions": str(tmp_path / "few")})
