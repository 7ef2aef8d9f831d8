"""Trunks that were trained elsewhere, and parts that training leaves as they are."""

from functools import partial

import numpy as np
import pytest
import torch

from coloured import QUICK, SMALL, trained_arrays
from counterpart_annotators.nn.network_options import TRUNKS
from counterpart_annotators.nn.trunks import ResNet
from counterpart_metrics.errors import CounterpartError
from published import LAYOUTS

CNN = "network.img_enc.cnn."
learned = partial(trained_arrays, loss="max", each=1, **SMALL | QUICK | {"epochs": 1, "frozen": "trunk"})


@pytest.fixture
def trunk():
    """A trunk's state in evaluation, its statistics no longer those of the start."""
    torch.manual_seed(5)
    trunk = ResNet(TRUNKS["small"])
    trunk(torch.rand(4, 3, 32, 32))
    return trunk.state_dict()


def same_trunk(arrays, state) -> bool:
    return all(np.array_equal(arrays[CNN + name], tensor) for name, tensor in state.items())


@pytest.mark.parametrize("prefix", ["", "module.img_enc.cnn."])
def test_a_frozen_trunk_stays_as_the_file_has_it(tmp_path, trunk, prefix):
    named = {prefix + name: tensor for name, tensor in trunk.items()}
    torch.save(named | {f"{prefix}fc.weight": torch.ones(1000, 512)}, tmp_path / "trunk.pth")
    assert same_trunk(learned("pvse", trunk_from=str(tmp_path / "trunk.pth")), trunk)


def test_a_trunk_that_is_not_frozen_goes_on_learning(tmp_path, trunk):
    torch.save(trunk, tmp_path / "trunk.pth")
    assert not same_trunk(learned("pvse", trunk_from=str(tmp_path / "trunk.pth"), frozen="nothing"), trunk)


def test_an_annotator_lends_its_trunk_to_one_of_another_kind():
    lender = learned("pvse", frozen="nothing")
    borrowed = learned("vse", trunk_from="lender", lent=lender)
    assert all(np.array_equal(borrowed[name], array) for name, array in lender.items() if name.startswith(CNN))


def test_frozen_words_stay_as_they_were_drawn():
    table = "network.txt_enc.embed.weight"
    drawn, frozen, free = (
        learned("pvse", frozen=frozen, epochs=epochs)[table]
        for frozen, epochs in (("nothing", 0), ("words", 1), ("nothing", 1))
    )
    assert np.array_equal(frozen, drawn)
    assert not np.array_equal(free, drawn)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"conv1.weight": torch.ones(16, 3, 7, 7)}, "^The trunk of"),
        (LAYOUTS["plain"]({"features.0.weight": torch.ones(1)}, None), "1 unexpected: features.0.weight"),
        ({"epoch": 3}, "neither a state dict"),
    ],
)
def test_a_file_without_this_trunk_is_refused(tmp_path, state, message):
    torch.save(state, tmp_path / "trunk.pth")
    with pytest.raises(CounterpartError, match=message):
        learned("pvse", trunk_from=str(tmp_path / "trunk.pth"))


def test_a_trunk_from_nowhere_is_refused():
    with pytest.raises(CounterpartError, match="annotator nowhere"):
        learned("pvse", trunk_from="nowhere")


def test_a_frozen_trunk_must_have_been_trained():
    with pytest.raises(CounterpartError, match="--option trunk_from=FILE"):
        learned("pvse")
