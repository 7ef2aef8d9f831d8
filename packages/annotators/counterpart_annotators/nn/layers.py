"""Layers that PVSE, PCME, VSRN and VSE++ share: a GRU over words, attention, the PIE block, and networks for pictures.

Captions are ``token_ids`` (B, L), padded with 0, and ``lengths`` (B,) of at least 1, in any order. Tokens beyond a
caption's length change nothing.

The networks that read pictures have torchvision's names. ResNet: He, Zhang, Ren and Sun (2016), "Deep residual learning
for image recognition", table 1, with the stride in the 3 x 3 convolution of a block, as in torchvision. VGG-19:
Simonyan and Zisserman (2015), "Very deep convolutional networks for large-scale image recognition", table 1, E.
"""

from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from counterpart_annotators.nn.network_options import EXPANSION, TrunkSize


def unit(vectors: Tensor) -> Tensor:
    """Divide each row by its Euclidean length, without an epsilon: a row of zeros becomes NaN."""
    return vectors / vectors.norm(dim=-1, keepdim=True)


class TwoEncoders(nn.Module):
    """A network that embeds pictures and captions separately, one row or K rows an item."""

    def embed_pictures(self, pictures: Tensor) -> Tensor:
        """Return (B, D) or (B, K, D) for pictures (B, 3, H, W), or for the features that replace them."""
        raise NotImplementedError

    def embed_captions(self, token_ids: Tensor, lengths: Tensor) -> Tensor:
        """Return (B, D) or (B, K, D) for captions (B, L) of ``lengths`` (B,)."""
        raise NotImplementedError


Reading = Literal["legacy", "final"]


def padding(lengths: Tensor, longest: int) -> Tensor:
    """Return (B, ``longest``): True where a row is padding."""
    return torch.arange(longest, device=lengths.device)[None, :] >= lengths[:, None]


def read(rnn: nn.GRU, words: Tensor, lengths: Tensor, reading: Reading = "legacy") -> Tensor:
    """Summarise words (B, L, E) with a one-layer GRU: (B, H), or (B, 2 x H) for a bidirectional one.

    Args:
        reading: ``legacy`` takes the output at the last valid word, where the backward half has seen that word only;
            all published PVSE and PCME models read so. ``final`` takes the last state of both directions. For a
            forward GRU they are equal.
    """
    packed = pack_padded_sequence(words, lengths.cpu(), batch_first=True, enforce_sorted=False)
    outputs, states = rnn(packed)
    if reading == "final":
        return states.transpose(0, 1).flatten(1)
    outputs = pad_packed_sequence(outputs, batch_first=True)[0]
    rows = torch.arange(len(lengths), device=words.device)
    return outputs[rows, lengths.to(words.device) - 1]


class Sentences(nn.Module):
    """A table of word vectors and a GRU over it, of ``units`` numbers in all."""

    def __init__(self, vocabulary: int, word: int, units: int, *, bidirectional: bool = False) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, word)
        self.rnn = nn.GRU(word, units // 2 if bidirectional else units, batch_first=True, bidirectional=bidirectional)
        nn.init.uniform_(self.embed.weight, -0.1, 0.1)

    def forward(self, token_ids: Tensor, lengths: Tensor) -> Tensor:
        """Return the output at each caption's last word, (B, units)."""
        return read(self.rnn, self.embed(token_ids), lengths)


class Attended(NamedTuple):
    """Output of a PIE block for B items: embeddings and residuals (B, K, D), or (B, D) if K is 1, and attention
    weights (B, L, K)."""

    embedding: Tensor
    attention: Tensor
    residual: Tensor


class Attention(nn.Module):
    """K weighted means of L parts: the weights are the softmax over parts of w_2 tanh(w_1 x), without biases."""

    def __init__(self, channels: int, heads: int = 1) -> None:
        super().__init__()
        self.w_1 = nn.Linear(channels, channels // 2, bias=False)
        self.w_2 = nn.Linear(channels // 2, heads, bias=False)
        nn.init.xavier_uniform_(self.w_1.weight)
        nn.init.xavier_uniform_(self.w_2.weight)

    def forward(self, parts: Tensor, padded: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return the means (B, K, C) of parts (B, L, C) and the weights (B, L, K), 0 where ``padded`` (B, L)."""
        scores = self.w_2(torch.tanh(self.w_1(parts)))
        if padded is not None:
            scores = scores.masked_fill(padded[:, :, None], -torch.inf)
        weights = scores.softmax(1)
        return weights.transpose(1, 2) @ parts, weights


class PIE(nn.Module):
    """K embeddings of an item: LN(global vector + sigmoid(fc of the k-th attended mean of its parts)).

    Song and Soleymani (2019), "Polysemous visual-semantic embedding for cross-modal retrieval", section 3.2. PCME has
    it with K = 1, and the same attention in its uncertainty modules.
    """

    def __init__(self, channels: int, embed: int, heads: int = 1) -> None:
        super().__init__()
        self.attention = Attention(channels, heads)
        self.fc = nn.Linear(channels, embed)
        self.layer_norm = nn.LayerNorm(embed)
        nn.init.xavier_uniform_(self.fc.weight)
        nn.init.zeros_(self.fc.bias)

    def forward(self, whole: Tensor, parts: Tensor, padded: Tensor | None = None) -> Attended:
        """Embed items from global vectors ``whole`` (B, D) and ``parts`` (B, L, C); not scaled to length 1."""
        means, weights = self.attention(parts, padded)
        residual = torch.sigmoid(self.fc(means))
        embedding = self.layer_norm(whole[:, None] + residual)
        if embedding.shape[1] == 1:
            return Attended(embedding.squeeze(1), weights, residual.squeeze(1))
        return Attended(embedding, weights, residual)


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
