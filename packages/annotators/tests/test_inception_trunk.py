"""Inception-ResNet-v2, whose output was compared with pretrainedmodels 0.7.4 when it was written."""

import pytest
import torch

from counterpart_annotators.nn.network_options import positions_of
from counterpart_annotators.nn.starting_weights import trunk_in
from counterpart_annotators.nn.trunks import InceptionResNetV2, make_trunk
from counterpart_metrics.errors import CounterpartError

PUBLISHED = {  # some names and shapes of the published file
    "conv2d_1a.conv.weight": (32, 3, 3, 3),
    "conv2d_4a.bn.running_var": (192,),
    "mixed_5b.branch1.1.conv.weight": (64, 48, 5, 5),
    "mixed_5b.branch3.1.bn.weight": (64,),
    "repeat.0.branch0.conv.weight": (32, 320, 1, 1),
    "repeat.9.conv2d.bias": (320,),
    "mixed_6a.branch1.2.conv.weight": (384, 256, 3, 3),
    "repeat_1.19.branch1.1.conv.weight": (160, 128, 1, 7),
    "mixed_7a.branch2.2.conv.weight": (320, 288, 3, 3),
    "repeat_2.8.branch1.2.conv.weight": (256, 224, 3, 1),
    "block8.conv2d.weight": (2080, 448, 1, 1),
    "conv2d_7b.conv.weight": (1536, 2080, 1, 1),
}


def test_it_has_the_weights_of_the_published_file():
    with torch.device("meta"):
        trunk = InceptionResNetV2()
    shapes = {name: tuple(tensor.shape) for name, tensor in trunk.state_dict().items()}
    assert PUBLISHED.items() <= shapes.items()
    assert len(shapes) == 1304
    assert sum(weight.numel() for weight in trunk.parameters()) == 54_306_464
    assert trunk_in(dict(trunk.state_dict()), "", "a file") == "inception-resnet-v2"


@pytest.mark.parametrize(
    ("path", "channels", "scale", "below"),
    [("repeat.9", 320, 0.17, 0), ("repeat_1.19", 1088, 0.1, 0), ("repeat_2.8", 2080, 0.2, 0), ("block8", 2080, 1, -1)],
)
def test_what_a_block_adds_is_scaled_and_rectified_but_in_the_last_block(path, channels, scale, below):
    with torch.device("meta"):
        trunk = InceptionResNetV2()
    block = trunk.get_submodule(path).to_empty(device="cpu").eval()
    for tensor in block.state_dict().values():
        tensor.zero_()
    block.conv2d.bias.data += 1  # so that 1 is added everywhere
    for features, wanted in ((3.0, 3 + scale), (-2.0, below)):
        found = block(torch.full((1, channels, 1, 1), features))
        torch.testing.assert_close(found, torch.full((1, channels, 1, 1), float(wanted)))


def test_its_normalisations_and_its_mean_are_those_of_the_published_network():
    with torch.device("meta"):
        trunk = InceptionResNetV2()
    assert {layer.eps for layer in trunk.modules() if isinstance(layer, torch.nn.BatchNorm2d)} == {0.001}
    mean = trunk.get_submodule("mixed_5b.branch3.0")
    assert mean(torch.ones(1, 1, 3, 3)).flatten().tolist() == [1] * 9  # what lies outside is not counted


@pytest.mark.parametrize("side", [75, 107, 299])
def test_its_map_has_the_positions_that_the_annotator_s_page_says(side):
    with torch.device("meta"):
        trunk, channels = make_trunk("inception-resnet-v2", side)
    positions = positions_of("inception-resnet-v2", side)
    assert trunk.eval()(torch.zeros(1, 3, side, side, device="meta")).shape == (1, channels, positions, positions)


def test_pictures_that_are_too_small_are_refused():
    with pytest.raises(CounterpartError, match="75 pixels or more, not 64"):
        make_trunk("inception-resnet-v2", 64)


def test_pictures_are_scaled_to_plus_and_minus_one():
    trunk = InceptionResNetV2.__new__(InceptionResNetV2)
    torch.nn.Module.__init__(trunk)
    black, white = (
        (torch.tensor([level] * 3) - torch.tensor([0.485, 0.456, 0.406])) / torch.tensor([0.229, 0.224, 0.225])
        for level in (0.0, 1.0)
    )
    pictures = torch.stack([black, white])[:, :, None, None]
    torch.testing.assert_close(trunk(pictures).flatten(1), torch.tensor([[-1.0] * 3, [1.0] * 3]))
