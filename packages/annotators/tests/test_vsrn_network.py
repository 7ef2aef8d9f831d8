"""VSRN's network against the authors' numbers, and against loops over single regions."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from authors import fill_procedurally, key_lists, near, numbers, shapes, weights
from counterpart_annotators.kinds.vsrn.network import VSRN, RegionGraph, RegionReader, over_regions
from counterpart_annotators.nn.layers import Sentences
from counterpart_annotators.nn.network_options import TRUNKS
from counterpart_annotators.nn.trunks import ResNet

VARIANTS = ("coco", "f30k")


def make_vsrn(
    variant: str = "coco", *, channels: int = 72, dim: int = 64, vocabulary: int = 50, word: int = 32
) -> VSRN:
    return VSRN(RegionReader(channels, dim, variant), Sentences(vocabulary, word, dim)).eval()


@pytest.fixture(params=VARIANTS)
def published(request, shared):
    """A small network with the fixture's weights, and what the authors' code computed with it."""
    network = make_vsrn(request.param)
    name = f"vsrn_{request.param}"
    network.img_enc.load_state_dict(weights(shared, f"{name}.weights", "0/"))
    network.txt_enc.load_state_dict(weights(shared, f"{name}.weights", "1/"))
    with torch.inference_mode():
        yield network, numbers(shared, f"{name}.io")


@pytest.mark.shared
def test_every_step_of_reasoning_has_the_authors_numbers(published):
    network, expected = published
    reader = network.img_enc
    nodes = reader.fc(expected["region_features"])
    near(nodes, expected["after_fc"])
    nodes = over_regions(nodes) if reader.bn is None else nodes
    near(nodes, expected["after_first_norm"])
    nodes = reader.Rs_GCN_1(nodes)
    near(nodes, expected["after_gcn_1"])
    for block in (2, 3, 4):
        nodes = reader.get_submodule(f"Rs_GCN_{block}")(nodes)
    near(nodes, expected["after_gcn_4"])
    near(reader.reason(expected["region_features"]), expected["gcn_features"])


@pytest.mark.shared
def test_embeddings_and_scores_have_the_authors_numbers(published):
    network, expected = published
    images = network.embed_pictures(expected["region_features"])
    captions = network.embed_captions(expected["token_ids"], expected["lengths"])
    near(images, expected["image_embedding"])
    near(captions, expected["text_embedding"])
    near(images @ captions.T, expected["similarity"])


@pytest.mark.shared
@pytest.mark.parametrize(("variant", "vocabulary"), [("coco", 10_006), ("f30k", 8_481)])
def test_names_and_shapes_are_the_published_ones(shared, variant, vocabulary):
    with torch.device("meta"):
        network = make_vsrn(variant, channels=2048, dim=2048, vocabulary=vocabulary, word=300)
    assert key_lists(shared, f"vsrn_{variant}") == {"0": shapes(network.img_enc), "1": shapes(network.txt_enc)}


@pytest.mark.shared
@pytest.mark.slow
def test_a_network_of_nearly_the_published_size_has_the_authors_numbers(shared):
    expected = numbers(shared, "vsrn_procedural")
    seed = int(expected["base_seed"])
    with torch.device("meta"):
        network = make_vsrn(channels=2048, dim=int(expected["embed_size"]), vocabulary=60, word=300)
    fill_procedurally(network.img_enc, seed, prefix="0/")
    fill_procedurally(network.txt_enc, seed, prefix="1/")
    regions = np.abs(np.random.RandomState(seed + 1).standard_normal((3, 36, 2048))).astype(np.float32)
    with torch.inference_mode():
        images = network.embed_pictures(torch.from_numpy(regions))
        captions = network.embed_captions(expected["token_ids"], expected["lengths"])
    near(images, expected["image_embedding"])
    near(captions, expected["text_embedding"])
    near(images @ captions.T, expected["similarity"])


def with_scales(block: RegionGraph) -> RegionGraph:
    """A block that does something: fresh ones are the identity."""
    torch.nn.init.normal_(block.W[1].weight)
    return block.eval()


def test_a_graph_block_adds_to_each_region_what_it_gathers_from_all():
    torch.manual_seed(0)
    block, regions = with_scales(RegionGraph(4)), torch.randn(2, 3, 4)

    def linear(conv: torch.nn.Conv1d, vector: torch.Tensor) -> torch.Tensor:
        return conv.weight[:, :, 0] @ vector + conv.bias

    expected = torch.empty_like(regions)
    for b, nodes in enumerate(regions):
        for i, node in enumerate(nodes):
            affinities = [linear(block.theta, node) @ linear(block.phi, other) / 3 for other in nodes]
            gathered = sum(a * linear(block.g, other) for a, other in zip(affinities, nodes, strict=True))
            mixed = linear(block.W[0], gathered)
            scaled = mixed / (1 + 1e-5) ** 0.5 * block.W[1].weight + block.W[1].bias
            expected[b, i] = node + scaled
    with torch.inference_mode():
        assert_close(block(regions), expected.detach(), atol=1e-6, rtol=1e-5)


def test_channels_are_scaled_over_the_regions_and_not_regions_over_their_channels():
    regions = torch.tensor([[[3.0, 1.0], [4.0, 0.0]]])
    assert_close(over_regions(regions), torch.tensor([[[0.6, 1.0], [0.8, 0.0]]]))


def test_a_picture_has_36_cells_of_its_trunk_row_by_row():
    torch.manual_seed(0)
    trunk = ResNet(TRUNKS["small"])
    network = make_vsrn(channels=trunk.size.channels, dim=16)
    network.cnn = trunk.eval()
    picture = torch.zeros(1, 3, 192, 192)
    picture[:, :, :32, 160:] = 5  # the top right cell: a map of 192 pixels has 6 x 6 positions
    with torch.inference_mode():
        cells, seen = network.regions_of(picture), network.cnn(picture)
        assert cells.shape == (1, 36, trunk.size.channels)
        assert_close(cells[0, 5], seen[0, :, 0, 5])
        assert_close(network.embed_pictures(picture), network.img_enc(cells))
