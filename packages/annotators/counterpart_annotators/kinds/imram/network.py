"""The network of Text-IMRAM: regions, words, the attention of words to regions, and the memory between its steps."""

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from counterpart_annotators.kinds.vsrn.network import cells_of
from counterpart_annotators.nn.layers import TwoEncoders
from counterpart_annotators.nn.trunks import make_trunk
from counterpart_annotators.options import Settings

NEGATIVE_SLOPE = 0.1  # of the rectified similarities
EPSILON = 1e-8


class RegionMap(nn.Module):
    """Regions (B, R, C) to unit vectors (B, R, D), by one linear map."""

    def __init__(self, channels: int, dim: int) -> None:
        super().__init__()
        self.fc_local = nn.Linear(channels, dim)
        nn.init.xavier_uniform_(self.fc_local.weight)
        nn.init.zeros_(self.fc_local.bias)

    def forward(self, regions: Tensor) -> Tensor:
        return functional.normalize(self.fc_local(regions), dim=2)


class WordReader(nn.Module):
    """Words as unit vectors: the mean of both directions of a GRU at each word."""

    def __init__(self, vocabulary: int, word: int, dim: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, word)
        self.rnn = nn.GRU(word, dim, batch_first=True, bidirectional=True)
        nn.init.uniform_(self.embed.weight, -0.1, 0.1)

    def forward(self, token_ids: Tensor, lengths: Tensor) -> Tensor:
        """Return (B, L, D) of captions (B, L) of ``lengths`` (B,), zeros at padding."""
        packed = pack_padded_sequence(self.embed(token_ids), lengths.cpu(), batch_first=True, enforce_sorted=False)
        outputs = pad_packed_sequence(self.rnn(packed)[0], batch_first=True, total_length=token_ids.shape[1])[0]
        forward, backward = outputs.chunk(2, dim=2)
        return functional.normalize((forward + backward) / 2, dim=2)


class Memory(nn.Module):
    """What the next step asks with: a gated mean of the last question and what was seen (section 3.3)."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.gate = nn.Linear(2 * dim, dim)
        self.new = nn.Linear(2 * dim, dim)

    def forward(self, asked: Tensor, seen: Tensor) -> Tensor:
        """Return g * asked + (1 - g) * o of two (..., D): g is a sigmoid and o a tanh of linear maps of both."""
        both = torch.cat([asked, seen], dim=-1)
        gate = torch.sigmoid(self.gate(both))
        return gate * asked + (1 - gate) * torch.tanh(self.new(both))


def attended(asked: Tensor, regions: Tensor, is_word: Tensor, sharpness: float) -> Tensor:
    """Return what each word sees of a picture: the mean of the regions, weighted by their similarity to the word.

    The inner products of words and regions are rectified (negative ones count a tenth), scaled so that those of a
    region with all words of the caption have length 1, and times ``sharpness`` pass a softmax over the regions.

    Args:
        asked: (n or 1, m, L, D), words of m captions, for each of n pictures after the first step.
        regions: (n, R, D).
        is_word: (m, L), False at padding.

    Returns:
        (n, m, L, D).
    """
    similarity = functional.leaky_relu(torch.einsum("nmld,nrd->nmlr", asked, regions), NEGATIVE_SLOPE)
    similarity = similarity * is_word[None, :, :, None]
    scaled = similarity / (similarity.norm(dim=2, keepdim=True) + EPSILON)
    weights = (sharpness * scaled).softmax(dim=3)
    return torch.einsum("nmlr,nrd->nmld", weights, regions)


class IMRAM(TwoEncoders):
    """Pictures are regions (B, R, C), or, with a trunk ``cnn``, (B, 3, H, W); captions are words."""

    def __init__(self, settings: Settings, words: int, trunk: nn.Module | None, channels: int) -> None:
        super().__init__()
        dim = int(settings["embed"])
        self.img_enc = RegionMap(channels, dim)
        self.txt_enc = WordReader(words, int(settings["word"]), dim)
        self.memory = Memory(dim)
        self.cnn = trunk
        self._context = int(settings["context"])
        self._steps = int(settings["steps"])
        self._sharpness = float(settings["sharpness"])

    def embed_pictures(self, pictures: Tensor) -> Tensor:
        """Return unit vectors of regions, (B, R, D)."""
        vectors: Tensor = self.img_enc(cells_of(self.cnn, pictures))
        return vectors

    def embed_captions(self, token_ids: Tensor, lengths: Tensor) -> Tensor:
        """Return unit vectors of words, (B, ``context``, D), zeros after a caption's last; further words are cut."""
        words = self.txt_enc(token_ids[:, : self._context], lengths.clamp(max=self._context))
        return functional.pad(words, (0, 0, 0, self._context - words.shape[1]))

    def scores(self, regions: Tensor, words: Tensor) -> Tensor:
        """Score n pictures (n, R, D) with m captions (m, L, D): (n, m).

        The sum over the steps of the mean, over a caption's words, of the cosine of the word and what it sees: at most
        the number of steps.
        """
        is_word = words.any(dim=2)
        longest = int(is_word.sum(1).max())
        words, is_word = words[None, :, :longest], is_word[:, :longest]
        asked, total = words, torch.zeros((), device=words.device)
        for step in range(self._steps):
            seen = attended(asked, regions, is_word, self._sharpness)
            cosines = functional.cosine_similarity(words, seen, dim=3)
            total = total + (cosines * is_word).sum(2) / is_word.sum(1)
            if step + 1 < self._steps:
                asked = self.memory(asked.expand_as(seen), seen)
        return total


def build(settings: Settings, words: int, channels: int | None = None) -> IMRAM:
    """Return the network of these settings and number of words, with initial weights.

    ``channels`` is the length of a region from files; None for a network that reads pictures itself.
    """
    trunk, read = (None, channels) if channels else make_trunk(str(settings["trunk"]), int(settings["picture"]))
    return IMRAM(settings, words, trunk, read)
