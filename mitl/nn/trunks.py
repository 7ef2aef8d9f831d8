"""Convolutional networks that read pictures for PVSE, PCME, VSRN and VSE++, under torchvision's names.

ResNet: He, Zhang, Ren and Sun (2016), "Deep residual learning for image recognition", table 1, with the stride in the
3 x 3 convolution of a block, as in torchvision. VGG-19: Simonyan and Zisserman (2015), "Very deep convolutional
networks for large-scale image recognition", table 1, E.
"""

from torch import Tensor, nn
from torch.nn import functional

from mitl.nn.sizes import EXPANSION, TrunkSize


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

    side, channels = 224, 4096

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
