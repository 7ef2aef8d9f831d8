"""The sizes of residual trunks by name. Read for every command, so nothing here imports torch."""

from dataclasses import dataclass

EXPANSION = 4


@dataclass(frozen=True)
class TrunkSize:
    """How many bottlenecks each stage has, and the channels of the first stage's 3 x 3 convolutions.

    Every stage has twice the channels of the one before; a bottleneck puts out four times its own.
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
