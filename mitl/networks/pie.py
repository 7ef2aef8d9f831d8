"""Attention over parts and the PIE block: K embeddings of one item, each its global vector plus what it attends to.

Song and Soleymani (2019), "Polysemous visual-semantic embedding for cross-modal retrieval", section 3.2; PCME has
the same block with K = 1, and the same attention in its uncertainty modules.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn


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
