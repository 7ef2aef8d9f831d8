"""Sentences as recurrent networks read them: a table of words, a GRU over it, and one vector of what it says.

Captions come as ``token_ids`` (B, L), filled up with 0, and ``lengths`` (B,) of at least 1, in any order. What stands
beyond a caption's length changes nothing.
"""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

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
