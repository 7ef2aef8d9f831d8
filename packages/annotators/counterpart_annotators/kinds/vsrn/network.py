"""The network of VSRN, and the decoder that generates captions in training."""

from typing import Literal, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from counterpart_annotators.nn.layers import Sentences, TwoEncoders
from counterpart_annotators.nn.trunks import make_trunk
from counterpart_annotators.options import Settings

Variant = Literal["coco", "f30k"]
BLOCKS = 4
GRID = 6  # cells per side that replace 36 regions
LONGEST = 60  # tokens of a caption that is generated, <start> and <end> included
END = 2  # the id of <end>


class RegionReader(nn.Module):
    """The image encoder: region features (B, N, C) to unit vectors (B, D). The order of regions matters."""

    def __init__(self, channels: int, dim: int, variant: Variant = "coco") -> None:
        super().__init__()
        self.fc = nn.Linear(channels, dim)
        for block in range(1, BLOCKS + 1):
            self.add_module(f"Rs_GCN_{block}", RegionGraph(dim))
        self.img_rnn = nn.GRU(dim, dim, batch_first=True)
        self.bn = nn.BatchNorm1d(dim) if variant == "f30k" else None
        bound = (6 / (channels + dim)) ** 0.5
        nn.init.uniform_(self.fc.weight, -bound, bound)
        nn.init.zeros_(self.fc.bias)

    def reason(self, regions: Tensor) -> Tensor:
        """Return the regions after the graph blocks, (B, N, D) (section 3.2)."""
        nodes = self.fc(regions)
        if self.bn is None:
            nodes = over_regions(nodes)
        for block in range(1, BLOCKS + 1):
            nodes = self.get_submodule(f"Rs_GCN_{block}")(nodes)
        return over_regions(nodes)

    def summarise(self, reasoned: Tensor) -> Tensor:
        """Return unit vectors (B, D) of the output of ``reason`` (B, N, D), by a GRU over the regions (section 3.3)."""
        last = self.img_rnn(reasoned)[1][0]
        if self.bn is not None:
            last = self.bn(last)
        return functional.normalize(last, dim=1)

    def forward(self, regions: Tensor) -> Tensor:
        return self.summarise(self.reason(regions))


def cells_of(trunk: nn.Module | None, pictures: Tensor) -> Tensor:
    """Return the regions of pictures: the input, or, row by row, a grid of the trunk's map (B, 36, C)."""
    if trunk is None:
        return pictures
    return functional.adaptive_avg_pool2d(trunk(pictures), GRID).flatten(2).transpose(1, 2)


class RegionGraph(nn.Module):
    """A graph block: every region adds the others weighted by their affinity, without softmax (section 3.2)."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.g, self.theta, self.phi = (nn.Conv1d(dim, dim, 1) for _ in range(3))
        scale = nn.BatchNorm1d(dim)
        # The block is the identity at first, so that four of them can be trained.
        nn.init.zeros_(scale.weight)
        self.W = nn.Sequential(nn.Conv1d(dim, dim, 1), scale)

    def forward(self, regions: Tensor) -> Tensor:
        """Map regions (B, N, D) to (B, N, D)."""
        columns = regions.transpose(1, 2)
        affinity = self.theta(columns).transpose(1, 2) @ self.phi(columns) / regions.shape[1]
        gathered = affinity @ self.g(columns).transpose(1, 2)
        return regions + self.W(gathered.transpose(1, 2)).transpose(1, 2)


def over_regions(regions: Tensor) -> Tensor:
    """Scale (B, N, D) so that each channel has length 1 over a picture's regions, as the published weights expect."""
    return functional.normalize(regions, dim=1)


class Captioner(nn.Module):
    """Log-likelihood of captions given region features (B, N, D), with teacher forcing (section 3.4).

    VSRN is trained with it: while it learns to match, this network generates the caption. The embeddings do not depend
    on it, and the published files do not contain it.
    """

    def __init__(self, dim: int, vocabulary: int, *, hidden: int = 512, word_dim: int = 300) -> None:
        super().__init__()
        self.encoder = RegionSequence(dim, hidden)
        self.decoder = WordSequence(vocabulary, hidden, word_dim)

    def forward(self, regions: Tensor, token_ids: Tensor, lengths: Tensor) -> Tensor:
        """Return the negative log-likelihood of the captions, summed over tokens and divided by B, a scalar.

        Captions are ``token_ids`` (B, L), 0 = padding, of ``lengths`` (B,), with ``<start>`` and ``<end>``. The targets
        are the tokens after ``<start>``, and one padding token that ends the caption.
        """
        token_ids, lengths = shortened(token_ids, lengths)
        targets = functional.pad(token_ids[:, 1:], (0, 1))
        log_probabilities = self.decoder(token_ids, *self.encoder(regions))
        chosen = log_probabilities.gather(2, targets[:, :, None])[:, :, 0]
        is_target = torch.arange(targets.shape[1], device=targets.device) < lengths.to(targets.device)[:, None]
        return -(chosen * is_target).sum() / len(targets)


class RegionSequence(nn.Module):
    """A GRU over regions: (B, N, D) to states (B, N, H) and the last state (1, B, H)."""

    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.vid2hid = nn.Linear(dim, hidden)
        self.rnn = nn.GRU(hidden, hidden, batch_first=True)

    def forward(self, regions: Tensor) -> tuple[Tensor, Tensor]:
        return self.rnn(self.vid2hid(regions))


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
        hidden = last
        outputs = []
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


class VSRN(TwoEncoders):
    """Both encoders. Pictures are regions (B, N, C), or, with a trunk ``cnn``, (B, 3, H, W).

    In training it may have a ``captioner``.
    """

    def __init__(self, image: RegionReader, text: Sentences, trunk: nn.Module | None = None) -> None:
        super().__init__()
        self.img_enc = image
        self.txt_enc = text
        self.cnn = trunk
        self.captioner: Captioner | None = None

    def regions_of(self, pictures: Tensor) -> Tensor:
        """Return the regions of pictures (``cells_of``)."""
        return cells_of(self.cnn, pictures)

    def embed_pictures(self, pictures: Tensor) -> Tensor:
        """Return unit vectors (B, D)."""
        embedding: Tensor = self.img_enc(self.regions_of(pictures))
        return embedding

    def embed_captions(self, token_ids: Tensor, lengths: Tensor) -> Tensor:
        """Return unit vectors (B, D) of captions (B, L)."""
        return functional.normalize(self.txt_enc(token_ids, lengths), dim=1)


def build(settings: Settings, words: int, channels: int | None = None) -> VSRN:
    """Return the network of these settings and number of words, with initial weights.

    ``channels`` is the length of a region from files; None for a network that reads pictures itself.
    """
    trunk, read = (None, channels) if channels else make_trunk(str(settings["trunk"]), int(settings["picture"]))
    embed = int(settings["embed"])
    return VSRN(
        RegionReader(read, embed, cast(Variant, settings["variant"])),
        Sentences(words, int(settings["word"]), embed),
        trunk,
    )
