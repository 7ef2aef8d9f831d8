"""Layers"""

from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def unit(vectors: Tensor) -> Tensor:
    """Divide each row by its Euclidean length, without an epsilon: a row of zeros becomes NaN."""
    return vectors / vectors.norm(dim=-1, keepdim=True)


class TwoHalves(nn.Module):
    """A network that embeds pictures and captions apart from each other, one row or K rows an item."""

    def embed_pictures(self, pictures: Tensor) -> Tensor:
        """Return (B, D) or (B, K, D) for pictures (B, 3, H, W), or for what else stands for them."""
        raise NotImplementedError

    def embed_captions(self, token_ids: Tensor, lengths: Tensor) -> Tensor:
        """Return (B, D) or (B, K, D) for captions (B, L) of ``lengths`` (B,)."""
        raise NotImplementedError


Reading = Literal["legacy", "final"]


def padding(lengths: Tensor, longest: int) -> Tensor:
    """Return (B, ``longest``): True where a row is filled up."""
    return torch.arange(longest, device=lengths.device)[None, :] >= lengths[:, None]


def read(rnn: nn.GRU, words: Tensor, lengths: Tensor, reading: Reading = "legacy") -> Tensor:
    """Return what a one-layer GRU, forward or bidirectional, says of words (B, L, E): (B, H), or (B, 2 x H).

    Args:
        reading: ``legacy`` takes the output at the last valid word, where the backward half has seen that word only:
            how all published PVSE and PCME models read. ``final`` takes the last state of either direction. For a
            forward GRU they are the same.
    """
    packed = pack_padded_sequence(words, lengths.cpu(), batch_first=True, enforce_sorted=False)
    outputs, states = rnn(packed)
    if reading == "final":
        return states.transpose(0, 1).flatten(1)
    outputs = pad_packed_sequence(outputs, batch_first=True)[0]
    rows = torch.arange(len(lengths), device=words.device)
    return outputs[rows, lengths.to(words.device) - 1]


class Sentences(nn.Module):
    """A table of words and a GRU over it, of ``units`` numbers in all."""

    def __init__(self, vocabulary: int, word: int, units: int, *, bidirectional: bool = False) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, word)
        self.rnn = nn.GRU(word, units // 2 if bidirectional else units, batch_first=True, bidirectional=bidirectional)
        nn.init.uniform_(self.embed.weight, -0.1, 0.1)

    def forward(self, token_ids: Tensor, lengths: Tensor) -> Tensor:
        """Return the output at each caption's last word, (B, units)."""
        return read(self.rnn, self.embed(token_ids), lengths)


class Attended(NamedTuple):
    """What a PIE block makes of B items: embeddings and residuals (B, K, D), or (B, D) where K is 1, and the weights
    of its attention (B, L, K)."""

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
    """LN(global vector + sigmoid(fc of the k-th attended mean of the parts)), for k = 1 to K."""

    def __init__(self, channels: int, embed: int, heads: int = 1) -> None:
        super().__init__()
        self.attention = Attention(channels, heads)
        self.fc = nn.Linear(channels, embed)
        self.layer_norm = nn.LayerNorm(embed)
        nn.init.xavier_uniform_(self.fc.weight)
        nn.init.zeros_(self.fc.bias)

    def forward(self, whole: Tensor, parts: Tensor, padded: Tensor | None = None) -> Attended:
        """Embed items given as global vectors ``whole`` (B, D) and ``parts`` (B, L, C); not scaled to length 1."""
        means, weights = self.attention(parts, padded)
        residual = torch.sigmoid(self.fc(means))
        embedding = self.layer_norm(whole[:, None] + residual)
        if embedding.shape[1] == 1:
            return Attended(embedding.squeeze(1), weights, residual.squeeze(1))
        return Attended(embedding, weights, residual)
