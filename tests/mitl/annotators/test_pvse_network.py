"""PVSE's network against the authors' numbers."""

import json

import pytest
import torch
from torch.testing import assert_close

from mitl.annotators.pvse.network import PVSE, ImageEncoder, TextEncoder
from mitl.nn.layers import Reading, ResNet
from mitl.nn.network_options import TRUNKS
from tests.mitl.nn.authors import FOLDER, fill_procedurally, numbers, pictures, shapes, weights

READINGS = ("legacy", "final")


def make_pvse(trunk, channels: int, heads: int, *, embed=64, words=50, word=32, reading: Reading = "legacy") -> PVSE:
    return PVSE(
        ImageEncoder(trunk, channels, embed, heads), TextEncoder(words, word, embed, heads, reading=reading)
    ).eval()


def make_published_size(heads: int) -> PVSE:
    size = TRUNKS["resnet152"]
    return make_pvse(ResNet(size), size.channels, heads, embed=1024, words=60, word=300)


def near(found: torch.Tensor, expected: torch.Tensor) -> None:
    assert_close(found, expected, atol=1e-5, rtol=0)


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
        network = make_published_size(heads)
    listed = json.loads((shared / FOLDER / f"keys_pvse_resnet152_k{heads}.json").read_text())
    assert {name: tuple(shape) for name, (shape, _) in listed.items()} == shapes(network)


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.parametrize("heads", [1, 2])
def test_a_network_of_the_published_size_has_the_authors_numbers(shared, heads):
    expected = numbers(shared, "pvse_full_procedural_resnet152")
    base_seed = int(expected["base_seed"])
    network = make_published_size(heads)
    fill_procedurally(network, base_seed)
    with torch.inference_mode():
        features = network.img_enc.cnn(pictures(base_seed))
        near(features.mean(1), expected["feature_map_mean_over_channels"])
        near(features.mean((2, 3)), expected["feature_map_channel_means"])
        near(network.img_enc.of_map(features).embedding, expected[f"k{heads}_image_embedding"])
        captions = network.embed_captions(expected["token_ids"], expected["lengths"])
        near(captions, expected[f"k{heads}_text_embedding_legacy"])


def test_embeddings_are_unit_vectors_and_do_not_depend_on_the_batch():
    torch.manual_seed(0)
    network = make_pvse(ResNet(TRUNKS["small"]), TRUNKS["small"].channels, 2)
    views, ids = torch.rand(3, 3, 64, 64), torch.tensor([[1, 5, 2, 0, 0], [1, 6, 7, 8, 2]])
    with torch.inference_mode():
        images, captions = network.embed_pictures(views), network.embed_captions(ids, torch.tensor([3, 5]))
        near(images.norm(dim=2), torch.ones(3, 2))
        near(images[1:2], network.embed_pictures(views[1:2]))
        near(captions[:1], network.embed_captions(ids[:1, :3], torch.tensor([3])))
