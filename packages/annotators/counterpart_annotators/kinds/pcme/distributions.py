"""Items as normal distributions, as in PCME: uncertainty modules, samples, and the match probability of two items.

Chun et al. (CVPR 2021), section 3. Names of modules are those of the published files.
"""

import hashlib
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from counterpart_annotators.nn.layers import Attention, padding, read

EPSILON = 1e-6  # inside the root of a distance, as in training


class Distribution(NamedTuple):
    """Normal distributions of B items: unit means (B, D) and the logarithms of standard deviations (B, D)."""

    mean: Tensor
    log_sigma: Tensor

    def samples(self, noise: Tensor) -> Tensor:
        """Return samples (B, K, D), not scaled to length 1, from standard normal ``noise`` (B, K, D)."""
        return self.mean[:, None] + noise * self.log_sigma.exp()[:, None]


class ImageUncertainty(nn.Module):
    """log sigma of a picture = fc(attended parts) + fc2(mean part)."""

    def __init__(self, channels: int, embed: int, first: float = 0.0) -> None:
        """``first`` is about the initial log sigma."""
        super().__init__()
        self.attention = Attention(channels)
        self.fc = nn.Linear(channels, embed)
        self.fc2 = nn.Linear(channels, embed)
        for linear, bias in ((self.fc, first), (self.fc2, 0.0)):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.constant_(linear.bias, bias)

    def forward(self, parts: Tensor) -> tuple[Tensor, Tensor]:
        """Return log sigma (B, D) of parts (B, L, C), and attention weights (B, L, 1)."""
        attended, weights = self.attention(parts)
        return self.fc(attended[:, 0]) + self.fc2(parts.mean(1)), weights


class TextUncertainty(nn.Module):
    """log sigma of a caption = fc(attended words) + the output of a second GRU."""

    def __init__(self, word: int, embed: int, first: float = 0.0) -> None:
        """``first`` is about the initial log sigma."""
        super().__init__()
        self.attention = Attention(word)
        self.fc = nn.Linear(word, embed)
        self.rnn = nn.GRU(word, embed // 2, batch_first=True, bidirectional=True)
        nn.init.xavier_uniform_(self.fc.weight)
        nn.init.constant_(self.fc.bias, first)

    def forward(self, words: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return log sigma (B, D) of words (B, L, E), and attention weights (B, L, 1)."""
        attended, weights = self.attention(words, padding(lengths.to(words.device), words.shape[1]))
        return self.fc(attended[:, 0]) + read(self.rnn, words, lengths), weights


class MatchProbability(nn.Module):
    """Match probability of two distributions (eq. 2 and 4): the mean over all pairs of samples of e^s / (e^s + e^-s)
    with s = shift - negative_scale x distance."""

    def __init__(self, shift: float = 15.0, negative_scale: float = 15.0) -> None:
        super().__init__()
        self.shift = nn.Parameter(torch.tensor([shift]))
        self.negative_scale = nn.Parameter(torch.tensor([negative_scale]))

    def forward(self, images: Tensor, captions: Tensor) -> Tensor:
        """Return (n, m) of samples (n, K, D) and (m, K, D)."""
        scores = self.shift - self.negative_scale * distances(images, captions)
        return torch.sigmoid(2 * scores).mean((2, 3))


def distances(images: Tensor, captions: Tensor) -> Tensor:
    """Return the distances of samples (n, K, D) and (m, K, D): (n, m, K, K), image samples before caption samples.

    By a matrix product, whose rounding errors the square root enlarges for distances near 0, where a match is certain.
    """
    n, k, _ = images.shape
    m = len(captions)
    rows = images.flatten(0, 1)
    columns = captions.flatten(0, 1)
    squared = torch.addmm(columns.square().sum(1), rows, columns.T, alpha=-2) + rows.square().sum(1)[:, None]
    return (squared.clamp(min=0) + EPSILON).sqrt().view(n, k, m, k).transpose(1, 2)


def exact_distances(images: Tensor, captions: Tensor) -> Tensor:
    """Return the same without those rounding errors, for training."""
    b, k, _ = images.shape
    n = len(captions)
    # Broadcasting all differences of the published batch would take gigabytes, and their gradient as much again.
    rows = images.flatten(0, 1)
    columns = captions.flatten(0, 1)
    apart = torch.cdist(rows, columns, compute_mode="donot_use_mm_for_euclid_dist")
    return (apart.square() + EPSILON).sqrt().view(b, k, n, -1).transpose(1, 2)


def sum_of_products(images: Tensor, captions: Tensor) -> Tensor:
    """Return the sum of the inner products of all pairs of samples, (n, m): the code's other score, "matmul"."""
    return images.sum(1) @ captions.sum(1).T


def noise_for(item: str, shape: tuple[int, int]) -> NDArray[np.float32]:
    """Return standard normal numbers that are always the same for one item."""
    seed = int.from_bytes(hashlib.sha256(item.encode()).digest())
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
