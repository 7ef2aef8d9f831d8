"""The caption decoder that VSRN is trained with; its published files do not contain it.

Li et al. (ICCV 2019), section 3.4. While VSRN learns to match, a small network generates the caption from its region
features, word by word. The embeddings do not depend on it.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

LONGEST = 60  # tokens of a caption, <start> and <end> included
HIDDEN = 512
END = 2


class Captioner(nn.Module):
    """Log-likelihood of captions given region features (B, N, D), with teacher forcing."""

    def __init__(self, dim: int, vocabulary: int, *, hidden: int = HIDDEN, word_dim: int = 300) -> None:
        super().__init__()
        self.encoder = RegionSequence(dim, hidden)
        self.decoder = WordSequence(vocabulary, hidden, word_dim)

    def forward(self, regions: Tensor, token_ids: Tensor, lengths: Tensor) -> Tensor:
        """Return the negative log-likelihood of the captions, summed over tokens and divided by B, a scalar.

        The targets are the tokens after ``<start>``, and one padding token that ends the caption.

        Args:
            regions: (B, N, D).
            token_ids: (B, L), 0 = padding, ``<start>`` first and ``<end>`` last.
            lengths: (B,), valid tokens per caption.
        """
        token_ids, lengths = shortened(token_ids, lengths)
        targets = functional.pad(token_ids[:, 1:], (0, 1))
        log_probabilities = self.decoder(token_ids, *self.encoder(regions))
        chosen = log_probabilities.gather(2, targets[:, :, None])[:, :, 0]
        told = torch.arange(targets.shape[1], device=targets.device) < lengths.to(targets.device)[:, None]
        return -(chosen * told).sum() / len(targets)


class RegionSequence(nn.Module):
    """A GRU over regions: (B, N, D) to states (B, N, H) and the last state (1, B, H)."""

    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.vid2hid = nn.Linear(dim, hidden)
        self.rnn = nn.GRU(hidden, hidden, batch_first=True)

    def forward(self, regions: Tensor) -> tuple[Tensor, Tensor]:
        states, last = self.rnn(self.vid2hid(regions))
        return states, last


class WordSequence(nn.Module):
    """A GRU over words that attends to the states of the regions before each word."""

    def __init__(self, vocabulary: int, hidden: int, word_dim: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, word_dim)
        self.attention = StateAttention(hidden)
        self.rnn = nn.GRU(hidden + word_dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocabulary)

    def forward(self, token_ids: Tensor, states: Tensor, last: Tensor) -> Tensor:
        """Return log-probabilities (B, L, V) of the word after each of ``token_ids`` (B, L)."""
        hidden, outputs = last, []
        for words in self.embedding(token_ids).unbind(1):
            seen = torch.cat([words, self.attention(hidden[0], states)], dim=1)
            output, hidden = self.rnn(seen[:, None], hidden)
            outputs.append(output)
        return functional.log_softmax(self.out(torch.cat(outputs, dim=1)), dim=2)


class StateAttention(nn.Module):
    """Mean of states (B, N, H), weighted by their fit to one hidden state (B, H)."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.linear1 = nn.Linear(2 * hidden, hidden)
        self.linear2 = nn.Linear(hidden, 1, bias=False)

    def forward(self, hidden: Tensor, states: Tensor) -> Tensor:
        both = torch.cat([states, hidden[:, None].expand_as(states)], dim=2)
        weights = self.linear2(torch.tanh(self.linear1(both))).softmax(dim=1)
        return (weights * states).sum(1)


def shortened(token_ids: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Cut captions (B, L) to ``LONGEST`` tokens; a caption that was longer ends there with ``<end>``."""
    cut = token_ids[:, :LONGEST].clone()
    cut[lengths.to(cut.device) > LONGEST, -1] = END
    return cut, lengths.clamp(max=LONGEST)
