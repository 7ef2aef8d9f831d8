"""VSRN: regions of a picture reason over each other before they become one vector (Li et al., ICCV 2019).

Names of modules are those of the published files. There are two published variants, told apart by ``bn.weight``:
``coco`` normalises the regions before they reason, ``f30k`` does not and ends in a batch normalisation instead.
"""

from typing import Literal

from torch import Tensor, nn
from torch.nn import functional

from mitl.nn.captioner import Captioner
from mitl.nn.layers import Sentences, TwoHalves
from mitl.nn.trunks import ResNet

Variant = Literal["coco", "f30k"]
BLOCKS = 4
GRID = 6  # cells a side that stand in for 36 regions


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
        """Return the regions after they reasoned over each other, (B, N, D) (section 3.2)."""
        nodes = self.fc(regions)
        if self.bn is None:
            nodes = over_regions(nodes)
        for block in range(1, BLOCKS + 1):
            nodes = self.get_submodule(f"Rs_GCN_{block}")(nodes)
        return over_regions(nodes)

    def summarise(self, reasoned: Tensor) -> Tensor:
        """Return unit vectors (B, D) of reasoned regions (B, N, D), read one after the other (section 3.3)."""
        last = self.img_rnn(reasoned)[1][0]
        if self.bn is not None:
            last = self.bn(last)
        return functional.normalize(last, dim=1)

    def forward(self, regions: Tensor) -> Tensor:
        return self.summarise(self.reason(regions))


class RegionGraph(nn.Module):
    """One graph block: every region gathers from all others by their affinity, without softmax (section 3.2)."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.g, self.theta, self.phi = (nn.Conv1d(dim, dim, 1) for _ in range(3))
        scale = nn.BatchNorm1d(dim)
        # The block begins as the identity, so that four of them can be learned from the start.
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


class VSRN(TwoHalves):
    """Both encoders. Pictures come as regions (B, N, C), or, where there is a trunk ``cnn``, as (B, 3, H, W).

    Whoever trains it may give it a ``captioner``.
    """

    def __init__(self, image: RegionReader, text: Sentences, trunk: ResNet | None = None) -> None:
        super().__init__()
        self.img_enc = image
        self.txt_enc = text
        self.cnn = trunk
        self.captioner: Captioner | None = None

    def regions_of(self, pictures: Tensor) -> Tensor:
        """Return the regions of pictures: what came, or, row by row, a grid of what the trunk saw (B, 36, C)."""
        if self.cnn is None:
            return pictures
        return functional.adaptive_avg_pool2d(self.cnn(pictures), GRID).flatten(2).transpose(1, 2)

    def embed_pictures(self, pictures: Tensor) -> Tensor:
        """Return unit vectors (B, D)."""
        embedding: Tensor = self.img_enc(self.regions_of(pictures))
        return embedding

    def embed_captions(self, token_ids: Tensor, lengths: Tensor) -> Tensor:
        """Return unit vectors (B, D) of captions (B, L)."""
        return functional.normalize(self.txt_enc(token_ids, lengths), dim=1)
