"""Published weights are read whatever they come in, and refused in one line where something is wrong with them."""

import json
import pickle

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from counterpart_annotators.kinds.blip import annotator as blip
from counterpart_annotators.kinds.clip import annotator as clip
from counterpart_annotators.kinds.siglip import annotator as siglip
from counterpart_annotators.kinds.vilt import annotator as vilt
from counterpart_annotators.nn.pretrained import read_pretrained
from counterpart_metrics.errors import CounterpartError
from pretrained import fixture_state, letters, settings_of, words, write_folder

FAMILIES = {"clip": clip.FAMILY, "siglip": siglip.FAMILY, "vilt": vilt.FAMILY, "blip": blip.FAMILY}
TOWER = {"layers": 1, "width": 16, "heads": 2}
SMALL = {
    **{"picture": 16, "patch": 8, "context": 8, "embed": 6, **TOWER},
    **{f"{tower}_{part}": size for tower in ("image", "text") for part, size in TOWER.items()},
}

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")


def folder_of(kind: str, path, pieces: int = 514):
    family = FAMILIES[kind]
    tokenizer = letters() if kind in ("clip", "siglip") else words(pieces)
    return write_folder(path, family, family.configure(SMALL, pieces), tokenizer)


def read(kind: str, path, **given):
    return read_pretrained(FAMILIES[kind], path, settings_of(kind, **given))


@pytest.fixture
def folder(tmp_path):
    return folder_of("clip", tmp_path / "folder")


@pytest.fixture
def merges(tmp_path):
    """A vocabulary file of the original CLIP fixture's 110 pieces."""
    path = tmp_path / "tokenizer.json"
    words(110).save(str(path))
    return path


@pytest.mark.parametrize("kind", FAMILIES)
def test_a_folder_of_the_hub_is_read_with_its_sizes_and_without_the_network(kind, tmp_path, monkeypatch):
    def refuse(*_: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr("socket.socket.connect", refuse)
    monkeypatch.setattr("socket.getaddrinfo", refuse)
    adopted = read(kind, folder_of(kind, tmp_path / "folder"), context=8)
    tensors = load_file(tmp_path / "folder" / "model.safetensors")
    assert {name for name in adopted.arrays if name.startswith("network.")} == {f"network.{name}" for name in tensors}
    assert {name: SMALL[name] for name in adopted.settings if name != "pieces"}.items() <= adopted.settings.items()
    assert adopted.settings["pieces"] == 514
    assert adopted.settings["picture"] == 16


def test_weights_in_shards_are_put_together(folder):
    whole = load_file(folder / "model.safetensors")
    names = sorted(whole)
    shards = {"one.safetensors": names[:20], "two.safetensors": names[20:]}
    for shard, part in shards.items():
        save_file({name: whole[name] for name in part}, folder / shard)
    index = {name: shard for shard, part in shards.items() for name in part}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    expected = read("clip", folder)
    (folder / "model.safetensors").unlink()
    assert read("clip", folder).arrays.keys() == expected.arrays.keys()


def test_a_shard_outside_of_the_folder_is_not_read(folder, tmp_path):
    index = {"logit_scale": "../elsewhere.safetensors"}
    save_file({"logit_scale": torch.ones(())}, tmp_path / "elsewhere.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    with pytest.raises(CounterpartError, match="../elsewhere.safetensors"):
        read("clip", folder)


def test_weights_of_half_precision_and_torchs_own_file_are_read_too(folder):
    whole = load_file(folder / "model.safetensors")
    torch.save({name: tensor.half() for name, tensor in whole.items()}, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    scale = read("clip", folder).arrays["network.logit_scale"]
    assert scale.dtype == np.float32
    assert scale == pytest.approx(float(whole["logit_scale"]), rel=1e-3)


def test_what_a_folder_says_of_pictures_is_kept(folder):
    (folder / "preprocessor_config.json").write_text(json.dumps({"image_mean": [0, 0, 0], "size": 99}))
    prepared = json.loads(read("clip", folder).arrays["preparation"].tobytes())
    assert (prepared["mean"], prepared["side"]) == ([0, 0, 0], 16)


@pytest.mark.shared
@pytest.mark.parametrize("container", ["state dict", "safetensors"])
def test_openais_containers_give_the_same_arrays(shared, tmp_path, merges, container):
    state = fixture_state(shared, "clip_original")
    half = {name: tensor.half() for name, tensor in state.items()}
    scalars = {name: torch.tensor(7) for name in ("input_resolution", "context_length", "vocab_size")}
    path = tmp_path / ("clip.safetensors" if container == "safetensors" else "clip.pt")
    if container == "safetensors":
        save_file(state, path)
    else:
        torch.save(half | scalars, path)
    adopted = read("clip", path, tokeniser=str(merges))
    expected, _ = clip.FAMILY.convert(state, {})
    for name, tensor in expected.items():
        np.testing.assert_allclose(adopted.arrays[f"network.{name}"], tensor, atol=2e-3)
    assert adopted.settings["image_heads"] == 2
    assert (adopted.settings["picture"], adopted.settings["patch"], adopted.settings["context"]) == (32, 8, 16)


def test_a_torchscript_archive_is_refused(tmp_path, merges):
    torch.jit.save(torch.jit.trace(nn.Linear(1, 1), torch.zeros(1)), tmp_path / "clip.pt")
    with pytest.raises(CounterpartError, match="TorchScript archive"):
        read("clip", tmp_path / "clip.pt", tokeniser=str(merges))


@pytest.mark.shared
def test_a_lightning_file_gives_vilts_arrays_without_heads_of_pre_training(shared, tmp_path):
    state = fixture_state(shared, "vilt_original")
    words(120).save(str(tmp_path / "tokenizer.json"))
    lightning = {
        "epoch": 9,
        "state_dict": {**state, "text_embeddings.position_ids": torch.arange(12)[None]},
        "hyper_parameters": {"num_heads": 4},
    }
    torch.save(lightning, tmp_path / "vilt.ckpt")
    adopted = read("vilt", tmp_path / "vilt.ckpt", tokeniser=str(tmp_path / "tokenizer.json"))
    assert adopted.settings["heads"] == 4
    np.testing.assert_array_equal(adopted.arrays["network.rank_output.weight"], state["rank_output.weight"])
    assert not any("score" in name for name in adopted.arrays)


def damage(folder, **tensors):
    """Change tensors of a folder; None takes one out."""
    whole = load_file(folder / "model.safetensors")
    changed = {name.replace("__", "."): tensor for name, tensor in tensors.items()}
    kept = {name: tensor for name, tensor in {**whole, **changed}.items() if tensor is not None}
    save_file(kept, folder / "model.safetensors")


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"logit_scale": None}, "1 missing: logit_scale"),
        ({"further": torch.ones(2)}, "1 unexpected: further"),
        ({"text_projection__weight": torch.ones(2, 2)}, "text_projection.weight 2 x 2 for 6 x 16"),
        ({"logit_scale": torch.tensor(torch.nan)}, "1 tensors: logit_scale"),
    ],
)
def test_weights_that_do_not_fit_are_refused_with_their_names(folder, tensors, message):
    damage(folder, **tensors)
    with pytest.raises(CounterpartError, match=message) as refused:
        read("clip", folder)
    assert "\n" not in str(refused.value)


def test_a_tokeniser_of_another_network_is_refused(folder):
    words(20).save(str(folder / "tokenizer.json"))
    with pytest.raises(CounterpartError, match="514 word pieces.* 20"):
        read("clip", folder)


def test_blips_two_pieces_beyond_berts_vocabulary_are_allowed(tmp_path):
    folder = folder_of("blip", tmp_path / "folder", pieces=22)
    words(20).save(str(folder / "tokenizer.json"))
    assert read("blip", folder, context=8).settings["pieces"] == 22


def test_a_folder_without_a_tokeniser_takes_the_one_that_is_named(tmp_path):
    folder = write_folder(tmp_path / "folder", clip.FAMILY, clip.FAMILY.configure(SMALL, 514), None)
    letters().save(str(tmp_path / "elsewhere.json"))
    assert "tokeniser" in read("clip", folder, tokeniser=str(tmp_path / "elsewhere.json")).arrays
    with pytest.raises(CounterpartError, match="a tokeniser"):
        read("clip", folder)


def test_a_folder_of_another_family_is_refused(folder):
    with pytest.raises(CounterpartError, match="clip, not siglip"):
        read("siglip", folder)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("config.json", b"[]", "config.json must hold"),
        ("config.json", None, "config.json cannot be read"),
        ("model.safetensors", None, "1 file of weights: model.safetensors"),
        ("model.safetensors", b"short", "model.safetensors cannot be read"),
    ],
)
def test_damaged_folders_are_refused_in_one_line(folder, file, content, message):
    (folder / file).unlink() if content is None else (folder / file).write_bytes(content)
    with pytest.raises(CounterpartError, match=message) as refused:
        read("clip", folder)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("kind", FAMILIES)
def test_a_file_under_other_names_is_refused(kind, tmp_path):
    torch.save({"features.0.weight": torch.zeros(2)}, tmp_path / "other.pt")
    with pytest.raises(CounterpartError, match="1 tensors"):
        read(kind, tmp_path / "other.pt")


def test_an_original_file_without_the_tensors_of_its_sizes_is_refused(tmp_path, merges):
    torch.save({"visual.conv1.weight": torch.zeros(8, 3, 4, 4)}, tmp_path / "clip.pt")
    with pytest.raises(CounterpartError, match="'token_embedding.weight'"):
        read("clip", tmp_path / "clip.pt", tokeniser=str(merges))


def test_a_truncated_file_and_a_foreign_class_are_refused_in_one_line(tmp_path):
    torch.save({"a": torch.zeros(1000)}, tmp_path / "whole.pt")
    (tmp_path / "short.pt").write_bytes((tmp_path / "whole.pt").read_bytes()[:500])
    (tmp_path / "foreign.pt").write_bytes(pickle.dumps({"state_dict": pickle.Unpickler}, protocol=2))
    for name in ("short.pt", "foreign.pt"):
        with pytest.raises(CounterpartError, match=name) as refused:
            read("vilt", tmp_path / name)
        assert "\n" not in str(refused.value)
