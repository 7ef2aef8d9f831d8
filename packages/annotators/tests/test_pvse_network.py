"""PVSE's network against the authors' numbers."""

import json

import pytest
import torch

from authors import FOLDER, fill_procedurally, near, numbers, pictures, shapes, weights
from counterpart_annotators.kinds.pvse.network import PVSE, ImageEncoder, TextEncoder
from counterpart_annotators.nn.layers import Reading
from counterpart_annotators.nn.network_options import TRUNKS
from counterpart_annotators.nn.trunks import ResNet

READINGS = ("legacy", "final")


def make_pvse(trunk, channels: int, heads: int, *, embed=64, words=50, word=32, reading: Reading = "legacy") -> PVSE:
    return PVSE(
        ImageEncoder(trunk, channels, embed, heads), TextEncoder(words, word, embed, heads, reading=reading)
    ).eval()


def make_published_size(heads: int, trunk: torch.nn.Module) -> PVSE:
    return make_pvse(trunk, TRUNKS["resnet152"].channels, heads, embed=1024, words=60, word=300)


@pytest.mark.shared
@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("reading", READINGS)
def test_captions_have_the_authors_numbers(shared, heads, reading):
    network, expected = make_pvse(torch.nn.Identity(), 96, heads, reading=reading), numbers(shared, f"pvse_k{heads}.io")
    network.load_state_dict(weights(shared, f"pvse_k{heads}.weights"))
    with torch.inference_mode():
        made = network.txt_enc(expected["token_ids"], expected["lengths"])
    for what in ("embedding", "attention", "residual"):
        near(getattr(made, what), expected[f"text_{what}_{reading}"])


@pytest.mark.shared
@pytest.mark.parametrize("heads", [1, 2])
def test_pictures_have_the_authors_numbers(shared, heads):
    network, expected = make_pvse(torch.nn.Identity(), 96, heads), numbers(shared, f"pvse_k{heads}.io")
    network.load_state_dict(weights(shared, f"pvse_k{heads}.weights"))
    with torch.inference_mode():
        made = network.img_enc(expected["image_feature_map"])
    for what in ("embedding", "attention", "residual"):
        near(getattr(made, what), expected[f"image_{what}"])


@pytest.mark.shared
@pytest.mark.parametrize("heads", [1, 2])
def test_names_and_shapes_are_the_published_ones(shared, heads):
    with torch.device("meta"):
        network = make_published_size(heads, ResNet(TRUNKS["resnet152"]))
    listed = json.loads((shared / FOLDER / f"keys_pvse_resnet152_k{heads}.json").read_text())
    assert {name: tuple(shape) for name, (shape, _) in listed.items()} == shapes(network)


@pytest.mark.shared
@pytest.mark.slow
def test_networks_of_the_published_size_have_the_authors_numbers(shared):
    expected = numbers(shared, "pvse_full_procedural_resnet152")
    base_seed = int(expected["base_seed"])
    with torch.device("meta"):
        trunk = ResNet(TRUNKS["resnet152"])
        networks = {heads: make_published_size(heads, torch.nn.Identity()) for heads in (1, 2)}
    fill_procedurally(trunk, base_seed, prefix="img_enc.cnn.")
    with torch.inference_mode():
        features = trunk(pictures(base_seed))
        near(features.mean(1), expected["feature_map_mean_over_channels"])
        near(features.mean((2, 3)), expected["feature_map_channel_means"])
        for heads, network in networks.items():
            fill_procedurally(network, base_seed)
            near(network.embed_pictures(features), expected[f"k{heads}_image_embedding"])
            captions = network.embed_captions(expected["token_ids"], expected["lengths"])
            near(captions, expected[f"k{heads}_text_embedding_legacy"])
