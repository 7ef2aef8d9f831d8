"""PVSE: K embeddings of a picture and K of a caption, scored by the best of their K x K cosines.

Song and Soleymani (2019), "Polysemous visual-semantic embedding for cross-modal retrieval". Where the published code
and the paper differ, the code is followed: it is what the published weights were trained with.
"""

from torch import Tensor, nn

from mitl.nn.layers import PIE, Attended, Reading, Sentences, TwoHalves, padding, read, unit


class ImageEncoder(nn.Module):
    """A picture's K unit vectors, from the positions of the trunk's last map.

    ``trunk`` makes maps (B, ``channels``, h, w) of pictures.
    """

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
        """Embed what the trunk made of pictures, (B, C, h, w)."""
        positions = features.flatten(2).transpose(1, 2)
        made = self.pie_net(self.fc(positions.mean(1)), positions)
        return made._replace(embedding=unit(made.embedding))


class TextEncoder(Sentences):
    """A caption's K unit vectors: the GRU reads the whole, attention looks at the plain word vectors."""

    def __init__(self, vocabulary: int, word: int, embed: int, heads: int = 1, *, reading: Reading = "legacy") -> None:
        super().__init__(vocabulary, word, embed, bidirectional=True)
        self.reading = reading
        self.pie_net = PIE(word, embed, heads)

    def forward(self, token_ids: Tensor, lengths: Tensor) -> Attended:  # type: ignore[override] # says more
        """Embed captions (B, L) of ``lengths`` (B,)."""
        words = self.embed(token_ids)
        whole = read(self.rnn, words, lengths, self.reading)
        made = self.pie_net(whole, words, padding(lengths.to(words.device), words.shape[1]))
        return made._replace(embedding=unit(made.embedding))


class PVSE(TwoHalves):
    """Both encoders, under the names of the published files."""

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
