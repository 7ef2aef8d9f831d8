import numpy as np
import pytest
import torch
from torch import nn
from torch.testing import assert_close

from counterpart_annotators.nn.weights import check_keys, load_network, strip_prefix, to_arrays
from counterpart_metrics.errors import CounterpartError

EXPECTED = {"fc.weight": (2, 3), "fc.bias": (2,), "bn.num_batches_tracked": ()}


def test_the_wrapper_is_removed_at_any_place():
    names = ["module.img_enc.fc.weight", "cnn.module.conv1.weight", "features.module.0.bias", "modules.0.weight"]
    assert list(strip_prefix(dict.fromkeys(names))) == [
        "img_enc.fc.weight",
        "cnn.conv1.weight",
        "features.0.bias",
        "modules.0.weight",
    ]


def test_the_counters_of_batches_may_be_missing():
    check_keys(EXPECTED, {"fc.weight": (2, 3), "fc.bias": (2,)}, "w.pth")


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ({"fc.bias": (2,)}, "1 missing: fc.weight"),
        ({"fc.weight": (2, 3), "fc.bias": (2,), "a": (1,), "b": ()}, "2 unexpected: a, b"),
        ({"fc.weight": (3, 2), "fc.bias": ()}, "fc.weight 3 x 2 for 2 x 3, fc.bias one number for 2"),
        ({"fc.weight": (3, 2), "x": (1,)}, "1 missing: fc.bias; 1 unexpected: x; 1 of another shape: fc.weight"),
    ],
)
def test_what_does_not_fit_is_named_in_one_line(found, message):
    with pytest.raises(CounterpartError, match=message) as raised:
        check_keys(EXPECTED, found, "w.pth")
    assert str(raised.value).startswith("w.pth does not fit this network of 3 tensors; ")
    assert "\n" not in str(raised.value)


def test_a_network_made_on_meta_takes_what_another_gave():
    given, on_meta = (
        nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)),
        nn.Sequential(nn.Linear(3, 2, device="meta"), nn.BatchNorm1d(2, device="meta")),
    )
    arrays = to_arrays(given)
    del arrays["network.1.num_batches_tracked"]
    load_network(on_meta, arrays | {"words": np.array(["a"])}, "annotator")
    features = torch.rand(4, 3)
    assert_close(on_meta(features), given.eval()(features))
    assert not on_meta.training
