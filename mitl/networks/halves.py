"""What networks with two halves have in common: pictures and captions are embedded apart from each other."""

from torch import Tensor, nn


class TwoHalves(nn.Module):
    """A network that embeds pictures and captions apart from each other, one row or K rows an item."""

    def embed_pictures(self, pictures: Tensor) -> Tensor:
        """Return (B, D) or (B, K, D) for pictures (B, 3, H, W), or for what else stands for them."""
        raise NotImplementedError

    def embed_captions(self, token_ids: Tensor, lengths: Tensor) -> Tensor:
        """Return (B, D) or (B, K, D) for captions (B, L) of ``lengths`` (B,)."""
        raise NotImplementedError
