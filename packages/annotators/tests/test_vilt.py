"""ViLT's numbers are those of its authors' code and of transformers, and its names those of the published size."""

import numpy as np
import pytest
import torch

from counterpart_annotators.kinds.vilt.annotator import FAMILY, ViltPairing
from counterpart_annotators.nn.joint import pad
from pretrained import fixture_arrays, fixture_json, fixture_state, network_of, settings_of

pytestmark = pytest.mark.shared
PATCH = 16


def converted(shared, *, without: str = "nothing"):
    state = {n: t for n, t in fixture_state(shared, "vilt_original").items() if not n.startswith(without)}
    state, configuration = FAMILY.convert(state, {"heads": 4})
    return network_of(FAMILY, FAMILY.own_tensors(state), configuration, 12)


@pytest.fixture(scope="module", params=["vilt_hf", "vilt_original"])
def network_and_arrays(request, shared):
    arrays = fixture_arrays(shared, f"{request.param}.io.npz")
    if request.param == "vilt_original":
        return converted(shared), arrays
    configuration = fixture_json(shared, "vilt_hf.config.json")
    return network_of(FAMILY, fixture_state(shared, "vilt_hf"), configuration, 12), arrays


def seen_in(network, arrays):
    """Each picture by itself, without the filling that the fixture's batch has."""
    sizes = arrays["pixel_mask"].any(2).sum(1), arrays["pixel_mask"].any(1).sum(1)
    values = torch.from_numpy(arrays["pixel_values"])
    pairing = ViltPairing(network)
    with torch.inference_mode():
        return [pairing.see(v[None, :, :h, :w])[0] for v, h, w in zip(values, *sizes, strict=True)]


def all_pairs(network, arrays):
    seen, seen_mask = pad(seen_in(network, arrays))
    ids, mask = torch.from_numpy(arrays["input_ids"]), torch.from_numpy(arrays["attention_mask"])
    images, captions = map(torch.flatten, torch.meshgrid(torch.arange(3), torch.arange(4), indexing="ij"))
    return seen[images], seen_mask[images], ids[captions], mask[captions]


def test_pairs_of_unlike_pictures_in_one_batch_score_as_each_alone(network_and_arrays):
    network, arrays = network_and_arrays
    with torch.inference_mode():
        scores = ViltPairing(network).score(*all_pairs(network, arrays))
    np.testing.assert_allclose(scores.view(3, 4), arrays["pair_logits"], atol=1e-5)
    np.testing.assert_allclose(scores.view(3, 4).diagonal(), arrays["batch_logits"], atol=1e-5)


def test_without_a_ranking_head_pairs_score_by_the_matching_heads_second_row(shared):
    arrays = fixture_arrays(shared, "vilt_original.io.npz")
    network = converted(shared, without="rank_output")
    with torch.inference_mode():
        scores = ViltPairing(network).score(*all_pairs(network, arrays))
    np.testing.assert_allclose(scores.view(3, 4), arrays["pair_itm_logits"][..., 1], atol=1e-5)


def test_narrower_layers_load_and_score_as_if_the_missing_units_were_silent(shared):
    arrays, state = fixture_arrays(shared, "vilt_original.io.npz"), fixture_state(shared, "vilt_original")
    narrow, silent = dict(state), {name: tensor.clone() for name, tensor in state.items()}
    for name in state:
        if ".mlp.fc1." in name:
            narrow[name], silent[name][24:] = state[name][:24].clone(), 0
        elif name.endswith(".mlp.fc2.weight"):
            narrow[name] = state[name][:, :24].clone()
    scores = []
    for one in (narrow, silent):
        converted, configuration = FAMILY.convert(one, {"heads": 4})
        network = network_of(FAMILY, FAMILY.own_tensors(converted), configuration, 12)
        with torch.inference_mode():
            scores.append(ViltPairing(network).score(*all_pairs(network, arrays)))
    np.testing.assert_allclose(*scores, atol=1e-5)


def test_heads_of_pre_training_and_rows_of_places_are_left_out(shared):
    state = fixture_state(shared, "vilt_original") | {"text_embeddings.position_ids": torch.arange(12)[None]}
    names = FAMILY.own_tensors(FAMILY.convert(FAMILY.own_tensors(state), {"heads": 4})[0])
    assert any(name.startswith("mlm_score.") for name in state)
    assert not any("mlm_score" in name or "itm_score" in name or "position_ids" in name for name in names)


def test_the_published_size_has_the_published_names_and_shapes(shared):
    published = {name: tuple(shape) for name, (shape, _) in fixture_json(shared, "keys_vilt_hf_b32.json").items()}
    sizes = settings_of("vilt")
    outline = FAMILY.outline(FAMILY.configure(sizes, sizes["pieces"]))
    assert {name: tuple(tensor.shape) for name, tensor in outline.state_dict().items()} == published
