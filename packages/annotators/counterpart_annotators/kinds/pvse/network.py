"""The network of PVSE."""

from typing import cast

from torch import Tensor, nn

from counterpart_annotators.nn.layers import PIE, Attended, Reading, Sentences, TwoEncoders, padding, read, unit
from counterpart_annotators.nn.trunks import make_trunk
from counterpart_annotators.options import Settings


class ImageEncoder(nn.Module):
    """A picture's K unit vectors, from the positions of the trunk's last map, (B, ``channels``, h, w)."""

    def __init__(self, trunk: nn.Module, channels: int, embed: int, heads: int = 1) -> None:
        super().__init__()
        self.cnn = trunk
        self.fc = nn.Linear(channels, embed)
        self.pie_net = PIE(channels, embed, heads)
        nn.init.xavier_uniform_(self.fc.weight)
        nn.init.zeros_(self.fc.bias)

    def forward(self, pictures: Tensor) -> Attended:
        """Embed pictures (B, 3, H, W)."""
        return self.of_map(self.cnn(pictures))

    def of_map(self, features: Tensor) -> Attended:
        """Embed the trunk's output for pictures, (B, C, h, w)."""
        positions = features.flatten(2).transpose(1, 2)
        attended = self.pie_net(self.fc(positions.mean(1)), positions)
        return attended._replace(embedding=unit(attended.embedding))


class TextEncoder(Sentences):
    """A caption's K unit vectors: the GRU reads the whole, attention reads the word vectors."""

    def __init__(self, vocabulary: int, word: int, embed: int, heads: int = 1, *, reading: Reading = "legacy") -> None:
        super().__init__(vocabulary, word, embed, bidirectional=True)
        self.reading = reading
        self.pie_net = PIE(word, embed, heads)

    def forward(self, token_ids: Tensor, lengths: Tensor) -> Attended:  # type: ignore[override] # returns more
        """Embed captions (B, L) of ``lengths`` (B,)."""
        words = self.embed(token_ids)
        sentence = read(self.rnn, words, lengths, self.reading)
        attended = self.pie_net(sentence, words, padding(lengths.to(words.device), words.shape[1]))
        return attended._replace(embedding=unit(attended.embedding))


class PVSE(TwoEncoders):
    """Both encoders."""

    def __init__(self, image: ImageEncoder, text: TextEncoder) -> None:
        super().__init__()
        self.img_enc = image
        self.txt_enc = text

    def embed_pictures(self, pictures: Tensor) -> Tensor:
        """Return (B, D) or (B, K, D) for pictures (B, 3, H, W)."""
        embedding: Tensor = self.img_enc(pictures).embedding
        return embedding

    def embed_captions(self, token_ids: Tensor, lengths: Tensor) -> Tensor:
        """Return (B, D) or (B, K, D) for captions (B, L)."""
        embedding: Tensor = self.txt_enc(token_ids, lengths).embedding
        return embedding


def build(settings: Settings, words: int, length: int | None = None) -> PVSE:
    """Return the network of these settings and number of words, with initial weights."""
    trunk, channels = make_trunk(str(settings["trunk"]), int(settings["picture"]))
    embed = int(settings["embed"])
    heads = int(settings["embeddings"])
    return PVSE(
        ImageEncoder(trunk, channels, embed, heads),
        TextEncoder(words, int(settings["word"]), embed, heads, reading=cast(Reading, settings["reading"])),
    )
