"""Networks of two towers (CLIP, SigLIP): a unit vector a picture and a unit vector a caption."""

from typing import Any

from torch import Tensor
from torch.nn.functional import normalize


def embed_pictures(network: Any, values: Tensor) -> Tensor:
    """Embed prepared pictures (B, 3, H, W) as unit vectors (B, D)."""
    return normalize(network.get_image_features(pixel_values=values).pooler_output, dim=1)


def embed_texts(network: Any, ids: Tensor) -> Tensor:
    """Embed rows of ids (B, L) as unit vectors (B, D).

    No mask: nothing in CLIP looks past the end token, and SigLIP looks at the filling as it did in training.
    """
    return normalize(network.get_text_features(input_ids=ids).pooler_output, dim=1)
