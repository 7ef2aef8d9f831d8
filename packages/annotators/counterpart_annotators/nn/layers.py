"""Layers that PVSE, PCME, VSRN and VSE++ share: a GRU over words, attention, the PIE block.

Captions are ``token_ids`` (B, L), padded with 0, and ``lengths`` (B,) of at least 1, in any order. Tokens beyond a
caption's length change nothing.
"""

from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


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
