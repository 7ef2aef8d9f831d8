"""Pictures are prepared as by the authors' code, and as transformers does it with Pillow."""

import numpy as np
import pytest
from PIL import Image as Pillow

from counterpart_annotators.kinds.blip import annotator as blip
from counterpart_annotators.kinds.clip import annotator as clip
from counterpart_annotators.kinds.siglip import annotator as siglip
from counterpart_annotators.kinds.vilt import annotator as vilt
from counterpart_annotators.nn.preparation import Preparation
from pretrained import fixture_arrays

CLIP = clip.FAMILY.preparation.sized(28, 8)
VILT = vilt.FAMILY.preparation.sized(64, 32)


def noise(width: int, height: int) -> Pillow.Image:
    return Pillow.fromarray(np.random.default_rng(width).integers(0, 256, (height, width, 3), dtype=np.uint8))


def values_of(preparation: Preparation, picture: Pillow.Image):
    return preparation.values(np.stack([preparation.pixels(picture)]), "cpu")[0].numpy()


@pytest.mark.shared
@pytest.mark.parametrize("number", range(4))
def test_clip_sees_what_its_authors_code_made(shared, number):
    expected = fixture_arrays(shared, "preprocess.npz")
    values = values_of(CLIP, Pillow.fromarray(expected[f"image{number}_rgb"]))
    np.testing.assert_allclose(values, expected[f"image{number}_clip"], atol=1e-5)


@pytest.mark.shared
@pytest.mark.parametrize("number", range(4))
def test_vilt_sees_what_its_authors_code_made(shared, number):
    expected = fixture_arrays(shared, "preprocess.npz")
    pixels = VILT.pixels(Pillow.fromarray(expected[f"image{number}_rgb"])).transpose(2, 0, 1)
    assert pixels.shape == expected[f"image{number}_vilt"].shape
    assert np.abs(pixels.astype(int) - expected[f"image{number}_vilt"]).max() <= 1


@pytest.mark.parametrize("size", [(61, 90), (150, 60)])
@pytest.mark.parametrize("family", ["clip", "vilt", "siglip", "blip"])
def test_transformers_prepares_a_picture_alike(family, size):
    from transformers.models.blip.image_processing_pil_blip import BlipImageProcessorPil
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
    from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil
    from transformers.models.vilt.image_processing_pil_vilt import ViltImageProcessorPil

    square = {"height": 28, "width": 28}
    ours, theirs = {
        "clip": (CLIP, CLIPImageProcessorPil(size={"shortest_edge": 28}, crop_size=square)),
        "vilt": (VILT, ViltImageProcessorPil(size={"shortest_edge": 64})),
        "siglip": (siglip.FAMILY.preparation.sized(28, 8), SiglipImageProcessorPil(size=square)),
        "blip": (blip.FAMILY.preparation.sized(28, 8), BlipImageProcessorPil(size=square)),
    }[family]
    expected = theirs(noise(*size), return_tensors="np")["pixel_values"][0]
    np.testing.assert_allclose(values_of(ours, noise(*size)), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("size", "shape"),
    [
        ((640, 480), (384, 512, 3)),  # the usual picture of COCO
        ((480, 640), (512, 384, 3)),
        ((500, 500), (384, 384, 3)),
        ((1000, 200), (128, 608, 3)),  # the longer side binds: 639 is cut to 608; the shorter, 127.8, is 128
        ((1000, 30), (32, 608, 3)),  # never less than one patch
    ],
)
def test_vilts_sides_are_multiples_of_a_patch_and_the_longer_one_is_bounded(size, shape):
    assert vilt.FAMILY.preparation.sized(384, 32).pixels(noise(*size)).shape == shape


@pytest.mark.parametrize("size", [96, {"shortest_edge": 96}])
def test_a_folders_own_shorter_side_and_colours_are_taken(size):
    adjusted = VILT.adjusted({"size": size, "image_mean": [0.1, 0.2, 0.3]})
    assert (adjusted.side, adjusted.mean, adjusted.deviation) == (96, (0.1, 0.2, 0.3), VILT.deviation)
