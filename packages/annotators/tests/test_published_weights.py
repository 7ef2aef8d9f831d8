"""Published layouts give the same tensors; what is not one is refused in one line, and never run."""

import os
import pickle
from argparse import Namespace

import numpy as np
import pytest
import torch

from authors import FOLDER, weights
from counterpart_annotators.nn.weights import read_published
from counterpart_metrics.errors import CounterpartError

LAYOUTS = {
    "pvse_plain_state_dict.pth": "pvse",
    "pvse_dataparallel.pth": "pvse",
    "pvse_train_checkpoint.pth.tar": "pvse",
    "pvse_old_list.pth": "pvse",
    "vsepp_checkpoint.pth.tar": "vsepp",
    "vsrn_checkpoint.pth.tar": "vsrn",
    "vsrn_checkpoint_python2_strings.pth.tar": "vsrn",
    "pcme_checkpoint.pth": "pcme",
}
STATE = {"img_enc.fc.weight": torch.ones(2, 3), "txt_enc.embed.weight": torch.ones(4, 2)}


class Harmful:
    """Unpickled as it asks to be, it would write a file."""

    def __reduce__(self):
        return os.system, ("touch harmed",)


def saved(folder, checkpoint, name="weights.pth"):
    torch.save(checkpoint, folder / name)
    return folder / name


def refusal(path) -> str:
    with pytest.raises(CounterpartError) as raised:
        read_published(path)
    assert "\n" not in str(raised.value)
    assert str(path) in str(raised.value)
    return str(raised.value)


@pytest.mark.shared
@pytest.mark.parametrize("name", LAYOUTS)
def test_every_published_layout_gives_the_same_tensors(shared, name):
    found = read_published(shared / FOLDER / "layouts" / name).tensors
    reference = weights(shared, f"layouts/{LAYOUTS[name]}_reference")
    sides = {"0/": "img_enc.", "1/": "txt_enc.", "model/": ""}
    expected = {
        next((key.replace(old, new, 1) for old, new in sides.items() if key.startswith(old)), key): tensor.numpy()
        for key, tensor in reference.items()
        if not key.startswith("criterion/")
    }
    assert set(found) == set(expected)
    for key, array in found.items():
        np.testing.assert_array_equal(array, expected[key])


@pytest.mark.shared
def test_the_options_of_a_training_come_along(shared):
    layouts = shared / FOLDER / "layouts"
    assert read_published(layouts / "pvse_train_checkpoint.pth.tar").options["legacy"] is True
    assert read_published(layouts / "vsepp_checkpoint.pth.tar").options["measure"] == "cosine"


MODULE = {f"module.{name}": tensor for name, tensor in STATE.items()}
TRAINING = {"epoch": 3, "best": np.float64(412.5), "rates": np.array([1.0, 2.0], ">f4"), "rng": torch.get_rng_state()}


@pytest.mark.parametrize(
    "checkpoint",
    [
        TRAINING | {"model": STATE}, {"state_dict": MODULE}, {"checkpoint": {"model": "vse", "state_dict": STATE}},
        {"model_state_dict": STATE, "optimizer": {"state": {0: {"step": torch.ones(1)}}, "lr": np.float32(0.1)}},
        {"net": [{"fc.weight": STATE["img_enc.fc.weight"]}, {"embed.weight": STATE["txt_enc.embed.weight"]}]},
    ],
)  # fmt: skip
@pytest.mark.parametrize("zipped", [True, False])
def test_weights_are_found_in_what_a_training_saved(tmp_path, checkpoint, zipped):
    torch.save(checkpoint, tmp_path / "w.pth", _use_new_zipfile_serialization=zipped)
    found = read_published(tmp_path / "w.pth").tensors
    assert {name: array.tolist() for name, array in found.items()} == {n: t.tolist() for n, t in STATE.items()}


def test_numbers_of_numpy_are_data(tmp_path):
    options = Namespace(size=np.int64(3), name=np.str_("vse"), on=np.True_)
    published = read_published(saved(tmp_path, TRAINING | {"model": STATE, "opt": options}))
    assert published.options == {"size": 3, "name": "vse", "on": True}
    assert published.others["best"] == 412.5
    np.testing.assert_array_equal(published.others["rates"], TRAINING["rates"])


@pytest.mark.parametrize("odd", [np.array([Namespace()], object), np.zeros(1, "f8,O"), np.datetime64("2026-01-01")])
def test_arrays_of_anything_but_numbers_are_refused(tmp_path, odd):
    assert "save the weights alone" in refusal(saved(tmp_path, {"model": STATE, "odd": odd}))


@pytest.mark.parametrize("zipped", [True, False])
def test_code_in_a_checkpoint_is_named_and_not_run(tmp_path, monkeypatch, zipped):
    monkeypatch.chdir(tmp_path)
    torch.save({"model": STATE, "opt": Harmful()}, tmp_path / "w.pth", _use_new_zipfile_serialization=zipped)
    assert "posix.system" in refusal(tmp_path / "w.pth")
    assert not (tmp_path / "harmed").exists()


def test_a_plain_pickle_with_code_is_not_run_either(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w.pth").write_bytes(pickle.dumps(Harmful(), protocol=2))
    refusal(tmp_path / "w.pth")
    assert not (tmp_path / "harmed").exists()


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("kept", [0, 20, 0.5])
def test_a_truncated_file_is_refused(tmp_path, zipped, kept):
    path = tmp_path / "w.pth"
    torch.save({"model": STATE, "opt": Namespace(a=1)}, path, _use_new_zipfile_serialization=zipped)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(kept * len(whole)) if isinstance(kept, float) else kept])
    assert "cannot be read as weights" in refusal(path)


@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
@pytest.mark.parametrize("content", [b"", b"not weights at all", b"PK\x03\x04"])
def test_other_bytes_are_refused(tmp_path, suffix, content):
    (tmp_path / f"w{suffix}").write_bytes(content)
    refusal(tmp_path / f"w{suffix}")


@pytest.mark.parametrize(
    "checkpoint",
    [{}, {"model": [STATE]}, {"epoch": 3}, [STATE, STATE, STATE], torch.ones(3), "text"],
)
def test_a_file_without_weights_by_name_is_refused(tmp_path, checkpoint):
    assert "neither a state dict" in refusal(saved(tmp_path, checkpoint))


def test_weights_that_are_not_finite_are_refused(tmp_path):
    path = saved(tmp_path, STATE | {"txt_enc.embed.weight": torch.tensor([float("nan")])})
    assert "1 of 2 tensors: txt_enc." in refusal(path)
