"""VSE++ and VSE0 against the authors' numbers; order embeddings against theirs and a case by hand."""

import pytest
import torch
from torch.testing import assert_close

from authors import key_lists, near, numbers, shapes, weights
from counterpart_annotators.kinds.vse.network import VSE, ImageEncoder, order_scores
from counterpart_annotators.nn.layers import Sentences
from counterpart_annotators.nn.network_options import TRUNKS
from counterpart_annotators.nn.trunks import VGG19, ResNet
from counterpart_annotators.nn.weights import strip_prefix

NORMALISED = {"vsepp": True, "vse0": False}
SIDES = {"0": "img_enc", "1": "txt_enc"}


def make_vse(trunk, channels: int, *, embed=64, words=50, word=32, normalise=True, order=False) -> VSE:
    return VSE(
        ImageEncoder(trunk, channels, embed, normalise=normalise), Sentences(words, word, embed), order=order
    ).eval()


def make_published_size(trunk: str, words: int) -> VSE:
    if trunk == "vgg19":
        return make_vse(VGG19(), VGG19.channels, embed=1024, words=words, word=300)
    return make_vse(ResNet(TRUNKS[trunk]), TRUNKS[trunk].channels, embed=1024, words=words, word=300)


@pytest.mark.shared
@pytest.mark.parametrize("name", NORMALISED)
def test_both_halves_have_the_authors_numbers(shared, name):
    network, expected = make_vse(None, 72, normalise=NORMALISED[name]), numbers(shared, f"{name}.io")
    tensors = weights(shared, "vse.weights")
    network.load_state_dict({key.replace(key[0], SIDES[key[0]], 1).replace("/", "."): t for key, t in tensors.items()})
    with torch.inference_mode():
        images = network.embed_pictures(expected["image_vectors"])
        captions = network.embed_captions(expected["token_ids"], expected["lengths"])
        near(images, expected["image_embedding"])
        near(captions, expected["text_embedding"])
        near(network.scores(images, captions), expected["similarity"])


@pytest.mark.shared
@pytest.mark.parametrize("name", NORMALISED)
def test_order_scores_have_the_authors_numbers(shared, name):
    expected = numbers(shared, f"{name}.io")
    scores = order_scores(expected["image_embedding"].abs(), expected["text_embedding"].abs())
    near(scores, expected["order_similarity_of_absolute_embeddings"])


@pytest.mark.shared
@pytest.mark.parametrize(("trunk", "words"), [("resnet152", 60), ("vgg19", 11_755)])
def test_names_and_shapes_are_the_published_ones(shared, trunk, words):
    with torch.device("meta"):
        network = make_published_size(trunk, words)
    listed = key_lists(shared, f"vsepp_{trunk}")
    joined = {f"{SIDES[side]}.{name}": shape for side, names in listed.items() for name, shape in names.items()}
    assert strip_prefix(joined) == shapes(network)


def test_a_caption_below_its_picture_in_every_dimension_scores_best():
    image = torch.tensor([[3.0, 2.0]])
    captions = torch.tensor([[1.0, 2.0], [6.0, 6.0], [3.0, 4.0]])
    assert_close(order_scores(image, captions), torch.tensor([[0.0, -5.0, -2.0]]))


def test_the_best_order_score_has_a_gradient_of_zero():
    image, caption = torch.tensor([[3.0, 2.0]], requires_grad=True), torch.tensor([[1.0, 2.0]])
    order_scores(image, caption).sum().backward()
    assert image.grad.equal(torch.zeros(1, 2))


def test_order_embeddings_are_absolute_values():
    torch.manual_seed(0)
    network = make_vse(None, 8, order=True)
    with torch.inference_mode():
        assert (network.embed_pictures(torch.randn(4, 8)) >= 0).all()
        assert (network.embed_captions(torch.tensor([[1, 7, 2]]), torch.tensor([3])) >= 0).all()
