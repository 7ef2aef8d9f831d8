"""PCME's network against the authors' numbers, and against loops over single samples."""

import pytest
import torch
from torch.testing import assert_close

from authors import key_lists, near, numbers, shapes, weights
from counterpart_annotators.kinds.pcme.distributions import Distribution, MatchProbability, distances, sum_of_products
from counterpart_annotators.kinds.pcme.network import PCME, ImageEncoder, TextEncoder
from counterpart_annotators.nn.layers import padding
from counterpart_annotators.nn.network_options import TRUNKS
from counterpart_annotators.nn.trunks import ResNet


def make_pcme(trunk: torch.nn.Module, channels: int, *, embed: int, vocabulary: int, word: int) -> PCME:
    image, text = ImageEncoder(trunk, channels, embed), TextEncoder(vocabulary, word, embed)
    return PCME(image, text, MatchProbability()).eval()


def distributions(network: PCME, pictures: torch.Tensor, expected: dict[str, torch.Tensor]) -> dict[str, Distribution]:
    image = network.embed_pictures(pictures)
    text = network.embed_captions(expected["token_ids"], expected["lengths"])
    return {"image": Distribution(*image.unbind(1)), "text": Distribution(*text.unbind(1))}


@pytest.fixture
def published(shared):
    """A small network without a trunk, with the fixture's weights, and what the authors' code computed with it."""
    network = make_pcme(torch.nn.Identity(), 96, embed=64, vocabulary=50, word=32)
    tensors = weights(shared, "pcme.weights", "model/")
    criterion = weights(shared, "pcme.weights", "criterion/")
    network.load_state_dict(tensors | {f"criterion.{name}": tensor for name, tensor in criterion.items()})
    with torch.inference_mode():
        yield network, numbers(shared, "pcme.io")


@pytest.mark.shared
def test_means_log_sigmas_and_samples_have_the_authors_numbers(published):
    network, expected = published
    for side, distribution in distributions(network, expected["image_feature_map"], expected).items():
        near(distribution.mean, expected[f"{side}_mean"])
        near(distribution.log_sigma, expected[f"{side}_logsigma"])
        near(distribution.samples(expected[f"{side}_noise"]), expected[f"{side}_samples"])


@pytest.mark.shared
def test_attention_and_residuals_have_the_authors_numbers(published):
    network, expected = published
    image = network.img_enc.of_map(expected["image_feature_map"])
    text = network.txt_enc(expected["token_ids"], expected["lengths"])
    for side, made in (("image", image), ("text", text)):
        near(made.attention, expected[f"{side}_attention"])
        near(made.residual, expected[f"{side}_residual"])


@pytest.mark.shared
def test_the_attention_of_the_uncertainty_has_the_authors_numbers(published):
    network, expected = published
    positions = expected["image_feature_map"].flatten(2).transpose(1, 2)
    words = network.txt_enc.embed(expected["token_ids"])
    near(network.img_enc.uncertain_net(positions)[1], expected["image_sigma_attention"])
    near(network.txt_enc.uncertain_net(words, expected["lengths"])[1], expected["text_sigma_attention"])
    padded = padding(expected["lengths"], words.shape[1])
    assert (network.txt_enc.uncertain_net(words, expected["lengths"])[1][padded] == 0).all()


@pytest.mark.shared
def test_distances_and_match_probabilities_have_the_authors_numbers(published):
    network, expected = published
    images, captions = expected["image_samples"], expected["text_samples"]
    caption_first = distances(images, captions).transpose(2, 3).flatten(2)
    near(caption_first, expected["distances"])
    near(network.criterion(images, captions), expected["match_probability"])
    means = expected["image_mean"][:, None], expected["text_mean"][:, None]
    near(network.criterion(*means), expected["match_probability_of_means"])
    near(sum_of_products(*means), expected["cosine_of_means"])
    assert_close(sum_of_products(images, captions), expected["sum_of_inner_products"], atol=1e-4, rtol=1e-5)


@pytest.mark.shared
def test_names_and_shapes_are_the_published_ones(shared):
    with torch.device("meta"):
        size = TRUNKS["resnet152"]
        network = make_pcme(ResNet(size), size.channels, embed=1024, vocabulary=60, word=300)
    listed = key_lists(shared, "pcme_resnet152")
    criterion = {f"criterion.{name}": shape for name, shape in listed["criterion"].items()}
    assert listed["model"] | criterion == shapes(network)


def test_a_match_probability_is_the_mean_over_pairs_of_samples():
    torch.manual_seed(0)
    images, captions = torch.randn(2, 3, 4) / 4, torch.randn(5, 3, 4) / 4
    criterion = MatchProbability()
    for i, image in enumerate(images):
        for j, caption in enumerate(captions):
            scores = [15 - 15 * ((z - w).square().sum() + 1e-6).sqrt() for z in image for w in caption]
            expected = sum(s.exp() / (s.exp() + (-s).exp()) for s in scores) / 9
            assert_close(criterion(images, captions)[i, j], expected, atol=1e-5, rtol=1e-5)
