"""PCME: every item is a normal distribution in the common space (Chun et al., CVPR 2021, section 3).

The means are PVSE's embeddings with K = 1; beside them, each side has an uncertainty module that gives the logarithm
of the standard deviation. Names of modules are those of the published files, the criterion's scalars included.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from mitl.networks import pvse
from mitl.nn.layers import Attention, TwoHalves, padding, read

EPSILON = 1e-6  # inside the root of a distance, as in training


class Distribution(NamedTuple):
    """Normal distributions of B items: unit means (B, D) and the logarithms of standard deviations (B, D)."""

    mean: Tensor
    log_sigma: Tensor

    def samples(self, noise: Tensor) -> Tensor:
        """Return draws (B, K, D), not scaled to length 1, from standard normal ``noise`` (B, K, D)."""
        return self.mean[:, None] + noise * self.log_sigma.exp()[:, None]


class ImageUncertainty(nn.Module):
    """log sigma of a picture = fc(attended parts) + fc2(mean part)."""

    def __init__(self, channels: int, embed: int, first: float = 0.0) -> None:
        """``first`` is about where log sigma begins."""
        super().__init__()
        self.attention = Attention(channels)
        self.fc = nn.Linear(channels, embed)
        self.fc2 = nn.Linear(channels, embed)
        for linear, bias in ((self.fc, first), (self.fc2, 0.0)):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.constant_(linear.bias, bias)

    def forward(self, parts: Tensor) -> tuple[Tensor, Tensor]:
        """Return log sigma (B, D) of parts (B, L, C), and the weights of its attention (B, L, 1)."""
        attended, weights = self.attention(parts)
        return self.fc(attended[:, 0]) + self.fc2(parts.mean(1)), weights


class TextUncertainty(nn.Module):
    """log sigma of a caption = fc(attended words) + what a GRU of its own says of the words."""

    def __init__(self, word: int, embed: int, first: float = 0.0) -> None:
        """``first`` is about where log sigma begins."""
        super().__init__()
        self.attention = Attention(word)
        self.fc = nn.Linear(word, embed)
        self.rnn = nn.GRU(word, embed // 2, batch_first=True, bidirectional=True)
        nn.init.xavier_uniform_(self.fc.weight)
        nn.init.constant_(self.fc.bias, first)

    def forward(self, words: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return log sigma (B, D) of words (B, L, E), and the weights of its attention (B, L, 1)."""
        attended, weights = self.attention(words, padding(lengths.to(words.device), words.shape[1]))
        return self.fc(attended[:, 0]) + read(self.rnn, words, lengths), weights


class ImageEncoder(pvse.ImageEncoder):
    """A picture's distribution, from the positions of the trunk's last map."""

    def __init__(self, trunk: nn.Module, channels: int, embed: int, first_log_sigma: float = 0.0) -> None:
        super().__init__(trunk, channels, embed)
        self.uncertain_net = ImageUncertainty(channels, embed, first_log_sigma)

    def distribution(self, features: Tensor) -> Distribution:
        """Embed what the trunk made of pictures, (B, C, h, w)."""
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


class MatchProbability(nn.Module):
    """How probable a match of two distributions is, by their samples (eq. 2 and 4): the mean over all pairs of samples
    of e^s / (e^s + e^-s) with s = shift - negative_scale x distance."""

    def __init__(self, shift: float = 15.0, negative_scale: float = 15.0) -> None:
        super().__init__()
        self.shift = nn.Parameter(torch.tensor([shift]))
        self.negative_scale = nn.Parameter(torch.tensor([negative_scale]))

    def forward(self, images: Tensor, captions: Tensor) -> Tensor:
        """Return (n, m) of samples (n, K, D) and (m, K, D)."""
        scores = self.shift - self.negative_scale * distances(images, captions)
        return torch.sigmoid(2 * scores).mean((2, 3))


class PCME(TwoHalves):
    """Both encoders, and what compares them. An item's two rows are its mean and its log sigma, (B, 2, D)."""

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


def distances(images: Tensor, captions: Tensor) -> Tensor:
    """Return the distances of samples (n, K, D) and (m, K, D): (n, m, K, K), image samples before caption samples.

    Through a matrix product, whose rounding the square root magnifies for distances near 0; there a match is certain
    anyhow.
    """
    (n, k, _), m = images.shape, len(captions)
    rows, columns = images.flatten(0, 1), captions.flatten(0, 1)
    squared = torch.addmm(columns.square().sum(1), rows, columns.T, alpha=-2) + rows.square().sum(1)[:, None]
    return (squared.clamp(min=0) + EPSILON).sqrt().view(n, k, m, k).transpose(1, 2)


def sum_of_products(images: Tensor, captions: Tensor) -> Tensor:
    """Return the sum over all pairs of samples of their inner product, (n, m): the code's other score, "matmul"."""
    return images.sum(1) @ captions.sum(1).T
