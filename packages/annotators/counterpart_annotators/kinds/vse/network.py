"""The network of VSE++, VSE0 and order embeddings."""

import torch
from torch import Tensor, nn

from counterpart_annotators.nn.layers import Sentences, TwoEncoders, unit
from counterpart_annotators.nn.trunks import VGG19, make_trunk
from counterpart_annotators.options import Settings
from counterpart_metrics.errors import CounterpartError


class ImageEncoder(nn.Module):
    """A linear map of the trunk's pooled output, scaled to length 1 before and, if ``normalise``, after.

    Without a trunk, pictures are vectors (B, ``channels``) of length 1.
    """

    def __init__(self, trunk: nn.Module | None, channels: int, embed: int, *, normalise: bool) -> None:
        super().__init__()
        self.normalise = normalise
        self.cnn = trunk
        self.fc = nn.Linear(channels, embed)
        nn.init.xavier_uniform_(self.fc.weight)
        nn.init.zeros_(self.fc.bias)

    def forward(self, pictures: Tensor) -> Tensor:
        vectors = pictures
        if self.cnn is not None:
            seen = self.cnn(pictures)
            vectors = unit(seen.mean((2, 3)) if seen.ndim == 4 else seen)  # of a map, over its positions
        embedding: Tensor = self.fc(vectors)
        return unit(embedding) if self.normalise else embedding


class VSE(TwoEncoders):
    """Both encoders. With ``order``, embeddings are absolute values and compared by ``order_scores``."""

    def __init__(self, image: ImageEncoder, text: Sentences, *, order: bool = False) -> None:
        super().__init__()
        self.img_enc = image
        self.txt_enc = text
        self.order = order

    def embed_pictures(self, pictures: Tensor) -> Tensor:
        """Return (B, D) for pictures (B, 3, H, W), or for vectors (B, C) without a trunk."""
        embedding: Tensor = self.img_enc(pictures)
        return embedding.abs() if self.order else embedding

    def embed_captions(self, token_ids: Tensor, lengths: Tensor) -> Tensor:
        """Return unit vectors (B, D) for captions (B, L)."""
        embedding = unit(self.txt_enc(token_ids, lengths))
        return embedding.abs() if self.order else embedding

    def scores(self, images: Tensor, captions: Tensor) -> Tensor:
        """Score embeddings of n images with those of m captions: (n, m)."""
        return order_scores(images, captions) if self.order else images @ captions.T


def order_scores(images: Tensor, captions: Tensor) -> Tensor:
    """Return -||max(0, caption - image)|| of images (n, D) and captions (m, D): (n, m).

    A caption that exceeds the image in no dimension has the best score, 0.
    """
    excess = (captions[None, :, :] - images[:, None, :]).clamp(min=0)
    # The gradient of a length of 0 would be 0 / 0; there a negative has none.
    squares = excess.square().sum(2)
    return -torch.where(squares > 0, squares, 1).sqrt() * (squares > 0)


def build(settings: Settings, words: int, length: int | None = None) -> VSE:
    """Return the network of these settings, with initial weights; ``length`` is that of vectors, without a trunk."""
    trunk, channels = _trunk(settings, length or 0)
    embed = int(settings["embed"])
    return VSE(
        ImageEncoder(trunk, channels, embed, normalise=settings["normalise"] == "yes"),
        Sentences(words, int(settings["word"]), embed),
        order=settings["score"] == "order",
    )


def _trunk(settings: Settings, length: int) -> tuple[nn.Module | None, int]:
    """Return the network that reads pictures, if any, and the length of its output."""
    name = str(settings["trunk"])
    if name == "none":
        return None, length
    if name == "vgg19":
        if settings["picture"] != VGG19.side:
            raise CounterpartError(f"vgg19 reads only pictures of {VGG19.side} pixels; leave the option picture out.")
        return VGG19(), VGG19.channels
    return make_trunk(name, int(settings["picture"]))
