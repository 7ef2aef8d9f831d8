"""VSE++, VSE0 and order embeddings: one vector a picture, one a caption.

Faghri, Fleet, Kiros and Fidler (2018), "VSE++: improving visual-semantic embeddings with hard negatives", section 3;
Vendrov, Kiros, Fidler and Urtasun (2016), "Order-embeddings of images and language", equation 2, without its square.
"""

import torch
from torch import Tensor, nn

from mitl.nn.layers import Sentences, TwoHalves, unit
from mitl.nn.trunks import VGG19, ResNet


class ImageEncoder(nn.Module):
    """One linear map of what a trunk sees, scaled to length 1 before and, if ``normalise``, after.

    Without a trunk, pictures come as vectors (B, ``channels``) of length 1 already.
    """

    def __init__(self, trunk: ResNet | VGG19 | None, channels: int, embed: int, *, normalise: bool = True) -> None:
        super().__init__()
        self.normalise = normalise
        self.cnn = trunk
        self.fc = nn.Linear(channels, embed)
        nn.init.xavier_uniform_(self.fc.weight)
        nn.init.zeros_(self.fc.bias)

    def forward(self, pictures: Tensor) -> Tensor:
        vectors = pictures if self.cnn is None else unit(_pooled(self.cnn(pictures)))
        embedding: Tensor = self.fc(vectors)
        return unit(embedding) if self.normalise else embedding


class VSE(TwoHalves):
    """Both encoders. With ``order``, embeddings are absolute values and compared by ``order_scores``."""

    def __init__(self, image: ImageEncoder, text: Sentences, *, order: bool = False) -> None:
        super().__init__()
        self.img_enc = image
        self.txt_enc = text
        self.order = order

    def embed_pictures(self, pictures: Tensor) -> Tensor:
        """Return (B, D) for pictures (B, 3, H, W), or for vectors (B, C) where there is no trunk."""
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
    """Return minus the length of what captions (m, D) have beyond images (n, D): -||max(0, caption - image)||, (n, m).

    A caption that is above the image in every dimension's order, nowhere larger, scores 0, the best.
    """
    beyond = (captions[None, :, :] - images[:, None, :]).clamp(min=0)
    # Where nothing is beyond, the length's gradient would be 0 / 0; there a negative pulls on nothing.
    squares = beyond.square().sum(2)
    return -torch.where(squares > 0, squares, 1).sqrt() * (squares > 0)


def _pooled(seen: Tensor) -> Tensor:
    """Average a map (B, C, h, w) over its positions; a vector (B, C) is pooled already."""
    return seen.mean((2, 3)) if seen.ndim == 4 else seen
