"""VGG-19 without its last layer, which reads pictures for the older VSE++ models, under torchvision's names.

Simonyan and Zisserman (2015), "Very deep convolutional networks for large-scale image recognition", table 1, E.
"""

from torch import Tensor, nn

STAGES = ((64, 2), (128, 2), (256, 4), (512, 4), (512, 4))
CHANNELS = 4096
SIDE = 224


class VGG19(nn.Module):
    """Pictures (B, 3, 224, 224) in, vectors (B, 4096) out, rectified."""

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
        positions = (SIDE // 2 ** len(STAGES)) ** 2
        self.classifier = nn.Sequential(
            nn.Linear(entering * positions, CHANNELS),
            nn.ReLU(inplace=True),
            nn.Dropout(),
            nn.Linear(CHANNELS, CHANNELS),
            nn.ReLU(inplace=True),
        )

    def forward(self, pictures: Tensor) -> Tensor:
        vectors: Tensor = self.classifier(self.features(pictures).flatten(1))
        return vectors
