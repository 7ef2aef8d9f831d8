"""CLIP's numbers are those of OpenAI's code and of transformers, and its names those of the published sizes."""

import numpy as np
import pytest
import torch

from counterpart_annotators.kinds.clip.annotator import FAMILY
from counterpart_annotators.nn.towers import embed_pictures, embed_texts
from pretrained import fixture_arrays, fixture_json, fixture_state, network_of

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def original(shared):
    state, configuration = FAMILY.convert(fixture_state(shared, "clip_original"), {})
    return network_of(FAMILY, state, configuration, 16), fixture_arrays(shared, "clip_original.io.npz")


def embeddings_of(network, arrays, ids: str):
    with torch.inference_mode():
        images = embed_pictures(network, torch.from_numpy(arrays["pixel_values"]))
        captions = embed_texts(network, torch.from_numpy(arrays[ids]))
    return images.numpy(), captions.numpy(), float(network.logit_scale.detach().exp())


def unit(features):
    return features / np.linalg.norm(features, axis=1, keepdims=True)


def test_transformers_weights_give_its_embeddings_cosines_and_logits(shared):
    state, configuration = fixture_state(shared, "clip_hf"), fixture_json(shared, "clip_hf.config.json")
    expected = fixture_arrays(shared, "clip_hf.io.npz")
    images, captions, scale = embeddings_of(network_of(FAMILY, state, configuration, 10), expected, "input_ids")
    np.testing.assert_allclose(images, expected["image_embeds"], atol=1e-5)
    np.testing.assert_allclose(captions, expected["text_embeds"], atol=1e-5)
    np.testing.assert_allclose(images @ captions.T, expected["cosine"], atol=1e-5)
    np.testing.assert_allclose(scale * images @ captions.T, expected["logits_per_image"], atol=1e-4)


def test_original_weights_give_openais_cosines_and_logits(original):
    network, expected = original
    images, captions, scale = embeddings_of(network, expected, "token_ids")
    np.testing.assert_allclose(images, unit(expected["image_features"]), atol=1e-5)
    np.testing.assert_allclose(captions, unit(expected["text_features"]), atol=1e-5)
    np.testing.assert_allclose(images @ captions.T, expected["cosine"], atol=1e-5)
    np.testing.assert_allclose(scale * captions @ images.T, expected["logits_per_text"], atol=1e-4)


@pytest.mark.parametrize(("keys", "layers"), [("keys_clip_vit_b32", (12, 12)), ("keys_clip_vit_l14", (24, 12))])
def test_every_published_tensor_finds_its_place_and_its_shape(shared, keys, layers):
    published = fixture_json(shared, f"{keys}.json")
    state = {name: torch.empty(shape, device="meta") for name, (shape, _) in published.items()}
    converted, configuration = FAMILY.convert(state, {})
    network = FAMILY.outline(configuration)
    assert {n: t.shape for n, t in network.state_dict().items()} == {n: t.shape for n, t in converted.items()}
    sizes = FAMILY.sizes(FAMILY.configured(configuration))
    assert (sizes["image_layers"], sizes["text_layers"]) == layers
    assert (sizes["picture"], sizes["context"], sizes["pieces"]) == (224, 77, 49_408)
