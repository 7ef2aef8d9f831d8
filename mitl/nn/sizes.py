"""Sizes of the residual trunks by name. Commands and pages read them, so nothing here imports torch."""

from dataclasses import dataclass

EXPANSION = 4


@dataclass(frozen=True)
class TrunkSize:
    """Number of bottlenecks in each stage, and channels of the first stage's 3 x 3 convolutions.

    Every stage has twice the channels of the stage before; a bottleneck outputs four times its own width.
    """

    blocks: tuple[int, ...]
    width: int = 64

    @property
    def channels(self) -> int:
        """Channels of the last map."""
        return self.width * 2 ** (len(self.blocks) - 1) * EXPANSION


TRUNKS = {
    "resnet152": TrunkSize((3, 8, 36, 3)),
    "resnet101": TrunkSize((3, 4, 23, 3)),
    "resnet50": TrunkSize((3, 4, 6, 3)),
    "small": TrunkSize((1, 1, 1, 1), width=16),
}
