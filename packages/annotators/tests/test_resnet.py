"""The residual trunk. Its numbers are held by the full networks of PVSE and VSE++ in their own tests."""

import pytest
import torch
from torch.testing import assert_close

from counterpart_annotators.nn.network_options import TRUNKS, TrunkSize
from counterpart_annotators.nn.trunks import Bottleneck, ResNet

TORCHVISION = {"resnet50": 23_508_032, "resnet101": 42_500_160, "resnet152": 58_143_808}  # without classifier


@pytest.mark.parametrize("name", TORCHVISION)
def test_the_named_sizes_have_as_many_weights_as_torchvisions(name):
    with torch.device("meta"):
        trunk = ResNet(TRUNKS[name])
    assert sum(weight.numel() for weight in trunk.parameters()) == TORCHVISION[name]


@pytest.mark.parametrize(("side", "positions"), [(64, 2), (65, 3), (224, 7)])
def test_a_map_has_a_position_for_every_32_pixels(side, positions):
    trunk = ResNet(TrunkSize((1, 1, 2, 1), width=4)).eval()
    with torch.inference_mode():
        features = trunk(torch.zeros(2, 3, side, side))
    assert features.shape == (2, trunk.size.channels, positions, positions) == (2, 128, positions, positions)


def test_a_block_adds_what_it_computes_to_what_came_in():
    block = Bottleneck(16, 4, stride=1).eval()
    torch.nn.init.zeros_(block.bn3.weight)
    features = torch.rand(1, 16, 3, 3)
    assert_close(block(features), features)
