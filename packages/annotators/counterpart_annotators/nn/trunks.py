"""Networks that read pictures, without their classifiers, under the names of their published weights.

ResNet: He, Zhang, Ren and Sun (2016), "Deep residual learning for image recognition", table 1, with the stride in the
3 x 3 convolution of a block, as in torchvision. VGG-19: Simonyan and Zisserman (2015), "Very deep convolutional
networks for large-scale image recognition", table 1, E. Inception-ResNet-v2: Szegedy, Ioffe, Vanhoucke and Alemi
(2017), "Inception-v4, Inception-ResNet and the impact of residual connections on learning", with the sizes of the
published weights; its layers have the names of the PyTorch files that were converted from TensorFlow's.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from counterpart_annotators.nn.imagenet import DEVIATION, MEAN
from counterpart_annotators.nn.network_options import (
    EXPANSION,
    INCEPTION,
    INCEPTION_CHANNELS,
    SMALLEST_INCEPTION,
    TRUNKS,
    TrunkSize,
)
from counterpart_metrics.errors import CounterpartError


def make_trunk(name: str, side: int) -> tuple[nn.Module, int]:
    """Return a network that maps pictures (B, 3, ``side``, ``side``), and the channels of its map.

    Raises CounterpartError for pictures that it cannot read.
    """
    if name != INCEPTION:
        return ResNet(TRUNKS[name]), TRUNKS[name].channels
    if side < SMALLEST_INCEPTION:
        raise CounterpartError(
            f"{INCEPTION} reads pictures of {SMALLEST_INCEPTION} pixels or more, not {side}; it was trained on 299."
        )
    return InceptionResNetV2(), INCEPTION_CHANNELS


class ResNet(nn.Module):
    """A ResNet without pooling and classifier: pictures (B, 3, H, W) to maps (B, ``size.channels``, H / 32, W / 32),
    rounded up."""

    def __init__(self, size: TrunkSize) -> None:
        super().__init__()
        self.size = size
        self.conv1 = nn.Conv2d(3, size.width, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(size.width)
        entering = size.width
        for stage, blocks in enumerate(size.blocks):
            width = size.width * 2**stage
            first = Bottleneck(entering, width, stride=1 if stage == 0 else 2)
            entering = width * EXPANSION
            rest = [Bottleneck(entering, width, stride=1) for _ in range(blocks - 1)]
            self.add_module(f"layer{stage + 1}", nn.Sequential(first, *rest))
        self.apply(_initialise)

    def forward(self, pictures: Tensor) -> Tensor:
        stem = functional.relu(self.bn1(self.conv1(pictures)))
        features = functional.max_pool2d(stem, 3, stride=2, padding=1)
        for stage in range(len(self.size.blocks)):
            features = self.get_submodule(f"layer{stage + 1}")(features)
        return features


class Bottleneck(nn.Module):
    """1 x 1 down to ``width`` channels, 3 x 3, 1 x 1 up to four times as many, added to the input."""

    def __init__(self, entering: int, width: int, *, stride: int) -> None:
        super().__init__()
        leaving = width * EXPANSION
        self.conv1 = nn.Conv2d(entering, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, leaving, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(leaving)
        self.downsample: nn.Sequential | None = None
        if stride != 1 or entering != leaving:
            projection = nn.Conv2d(entering, leaving, 1, stride=stride, bias=False)
            self.downsample = nn.Sequential(projection, nn.BatchNorm2d(leaving))

    def forward(self, features: Tensor) -> Tensor:
        passed = features if self.downsample is None else self.downsample(features)
        inner = functional.relu(self.bn1(self.conv1(features)))
        inner = functional.relu(self.bn2(self.conv2(inner)))
        return functional.relu(self.bn3(self.conv3(inner)) + passed)


def _initialise(module: nn.Module) -> None:
    """Initialise convolutions as He et al. (2015) do for rectified units."""
    if isinstance(module, nn.Conv2d):
        nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")


STAGES = ((64, 2), (128, 2), (256, 4), (512, 4), (512, 4))


class VGG19(nn.Module):
    """VGG-19 without its last layer: pictures (B, 3, 224, 224) to vectors (B, 4096), rectified."""

    side = 224
    channels = 4096

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        entering = 3
        for leaving, convolutions in STAGES:
            for _ in range(convolutions):
                layers += [nn.Conv2d(entering, leaving, 3, padding=1), nn.ReLU(inplace=True)]
                entering = leaving
            layers.append(nn.MaxPool2d(2))
        self.features = nn.Sequential(*layers)
        positions = (self.side // 2 ** len(STAGES)) ** 2
        self.classifier = nn.Sequential(
            nn.Linear(entering * positions, self.channels),
            nn.ReLU(inplace=True),
            nn.Dropout(),
            nn.Linear(self.channels, self.channels),
            nn.ReLU(inplace=True),
        )

    def forward(self, pictures: Tensor) -> Tensor:
        vectors: Tensor = self.classifier(self.features(pictures).flatten(1))
        return vectors


Shape = int | tuple[int, int]


class Convolved(nn.Module):
    """A convolution without bias, batch normalisation with an epsilon of 0.001, and rectification."""

    def __init__(self, entering: int, leaving: int, kernel: Shape, *, stride: int = 1, padded: bool = False) -> None:
        super().__init__()
        self.conv = nn.Conv2d(entering, leaving, kernel, stride, "same" if padded else 0, bias=False)
        self.bn = nn.BatchNorm2d(leaving, eps=0.001)

    def forward(self, features: Tensor) -> Tensor:
        return functional.relu(self.bn(self.conv(features)))


def _chain(entering: int, *layers: tuple[int, Shape], down: bool = False) -> nn.Module:
    """Return convolutions to (channels, kernel), one after the other; ``down``: the last one halves the map."""
    convolved = []
    for number, (leaving, kernel) in enumerate(layers, 1):
        halves = down and number == len(layers)
        convolved.append(Convolved(entering, leaving, kernel, stride=2 if halves else 1, padded=not halves))
        entering = leaving
    return convolved[0] if len(convolved) == 1 else nn.Sequential(*convolved)


class Branches(nn.Module):
    """Modules ``branch0``, ``branch1`` ... over the same features, their maps joined along the channels."""

    def __init__(self, *branches: nn.Module) -> None:
        super().__init__()
        for number, branch in enumerate(branches):
            self.add_module(f"branch{number}", branch)
        self._count = len(branches)

    def forward(self, features: Tensor) -> Tensor:
        return torch.cat([self.get_submodule(f"branch{number}")(features) for number in range(self._count)], 1)


class Residual(Branches):
    """Branches, a 1 x 1 convolution back to the channels that entered, scaled and added; rectified unless ``last``."""

    def __init__(self, channels: int, scale: float, *branches: nn.Module, joined: int, last: bool = False) -> None:
        super().__init__(*branches)
        self.conv2d = nn.Conv2d(joined, channels, 1)
        self._scale = scale
        self._last = last

    def forward(self, features: Tensor) -> Tensor:
        added = features + self._scale * self.conv2d(super().forward(features))
        return added if self._last else functional.relu(added)


def _block35() -> Residual:
    branches = _chain(320, (32, 1)), _chain(320, (32, 1), (32, 3)), _chain(320, (32, 1), (48, 3), (64, 3))
    return Residual(320, 0.17, *branches, joined=128)


def _block17() -> Residual:
    branches = _chain(1088, (192, 1)), _chain(1088, (128, 1), (160, (1, 7)), (192, (7, 1)))
    return Residual(1088, 0.1, *branches, joined=384)


def _block8(scale: float = 0.2, *, last: bool = False) -> Residual:
    branches = _chain(2080, (192, 1)), _chain(2080, (192, 1), (224, (1, 3)), (256, (3, 1)))
    return Residual(2080, scale, *branches, joined=448, last=last)


class InceptionResNetV2(nn.Module):
    """Inception-ResNet-v2: pictures (B, 3, H, W) to maps (B, 1536, h, w), 8 x 8 for pictures of 299 pixels.

    Pictures come as for the other trunks; their scaling to -1..1, which its weights need, is done here.
    """

    def __init__(self) -> None:
        super().__init__()
        self.conv2d_1a = Convolved(3, 32, 3, stride=2)
        self.conv2d_2a = Convolved(32, 32, 3)
        self.conv2d_2b = Convolved(32, 64, 3, padded=True)
        self.maxpool_3a = nn.MaxPool2d(3, 2)
        self.conv2d_3b = Convolved(64, 80, 1)
        self.conv2d_4a = Convolved(80, 192, 3)
        self.maxpool_5a = nn.MaxPool2d(3, 2)
        pooled = nn.Sequential(nn.AvgPool2d(3, 1, 1, count_include_pad=False), Convolved(192, 64, 1))
        self.mixed_5b = Branches(
            _chain(192, (96, 1)), _chain(192, (48, 1), (64, 5)), _chain(192, (64, 1), (96, 3), (96, 3)), pooled
        )
        self.repeat = nn.Sequential(*(_block35() for _ in range(10)))
        widened = _chain(320, (256, 1), (256, 3), (384, 3), down=True)
        self.mixed_6a = Branches(_chain(320, (384, 3), down=True), widened, nn.MaxPool2d(3, 2))
        self.repeat_1 = nn.Sequential(*(_block17() for _ in range(20)))
        self.mixed_7a = Branches(
            _chain(1088, (256, 1), (384, 3), down=True),
            _chain(1088, (256, 1), (288, 3), down=True),
            _chain(1088, (256, 1), (288, 3), (320, 3), down=True),
            nn.MaxPool2d(3, 2),
        )
        self.repeat_2 = nn.Sequential(*(_block8() for _ in range(9)))
        self.block8 = _block8(1.0, last=True)
        self.conv2d_7b = Convolved(2080, INCEPTION_CHANNELS, 1)
        self.apply(_initialise)

    def forward(self, pictures: Tensor) -> Tensor:
        mean, deviation = (torch.from_numpy(of).to(pictures)[:, None, None] for of in (MEAN, DEVIATION))
        features = 2 * (pictures * deviation + mean) - 1
        for layer in self.children():
            features = layer(features)
        return features
