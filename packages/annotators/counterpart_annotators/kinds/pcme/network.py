"""The network of PCME."""

import torch
from torch import Tensor, nn

from counterpart_annotators.kinds.pcme.distributions import (
    Distribution,
    ImageUncertainty,
    MatchProbability,
    TextUncertainty,
)
from counterpart_annotators.kinds.pvse import network as pvse
from counterpart_annotators.nn.layers import TwoEncoders
from counterpart_annotators.nn.trunks import make_trunk
from counterpart_annotators.options import Settings


class ImageEncoder(pvse.ImageEncoder):
    """A picture's distribution, from the positions of the trunk's last map."""

    def __init__(self, trunk: nn.Module, channels: int, embed: int, first_log_sigma: float = 0.0) -> None:
        super().__init__(trunk, channels, embed)
        self.uncertain_net = ImageUncertainty(channels, embed, first_log_sigma)

    def distribution(self, features: Tensor) -> Distribution:
        """Embed the trunk's output for pictures, (B, C, h, w)."""
        log_sigma, _ = self.uncertain_net(features.flatten(2).transpose(1, 2))
        return Distribution(self.of_map(features).embedding, log_sigma)


class TextEncoder(pvse.TextEncoder):
    """A caption's distribution."""

    def __init__(self, vocabulary: int, word: int, embed: int, first_log_sigma: float = 0.0) -> None:
        super().__init__(vocabulary, word, embed)
        self.uncertain_net = TextUncertainty(word, embed, first_log_sigma)

    def distribution(self, token_ids: Tensor, lengths: Tensor) -> Distribution:
        """Embed captions (B, L) of ``lengths`` (B,)."""
        log_sigma, _ = self.uncertain_net(self.embed(token_ids), lengths)
        return Distribution(self(token_ids, lengths).embedding, log_sigma)


class PCME(TwoEncoders):
    """Both encoders, and the criterion that compares them. The rows of an item are mean and log sigma, (B, 2, D)."""

    def __init__(self, image: ImageEncoder, text: TextEncoder, criterion: MatchProbability) -> None:
        super().__init__()
        self.img_enc = image
        self.txt_enc = text
        self.criterion = criterion

    def embed_pictures(self, pictures: Tensor) -> Tensor:
        """Return (B, 2, D) for pictures (B, 3, H, W)."""
        return torch.stack(self.img_enc.distribution(self.img_enc.cnn(pictures)), dim=1)

    def embed_captions(self, token_ids: Tensor, lengths: Tensor) -> Tensor:
        """Return (B, 2, D) for captions (B, L)."""
        return torch.stack(self.txt_enc.distribution(token_ids, lengths), dim=1)


def build(settings: Settings, words: int, length: int | None = None) -> PCME:
    """Return the network of these settings and number of words, with initial weights."""
    trunk, channels = make_trunk(str(settings["trunk"]), int(settings["picture"]))
    embed = int(settings["embed"])
    first = float(settings["log_sigma"])
    return PCME(
        ImageEncoder(trunk, channels, embed, first),
        TextEncoder(words, int(settings["word"]), embed, first),
        MatchProbability(float(settings["shift"]), float(settings["negative_scale"])),
    )
