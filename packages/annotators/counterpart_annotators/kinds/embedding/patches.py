"""Features of small pictures for the learned embedding: a dictionary of patches, or histograms."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image as Pillow
from torch import Tensor
from torch.nn import functional

from counterpart_annotators.base import Arrays
from counterpart_annotators.plain import PlainImage

WIDTH = 96
HEIGHT = 72
CHUNK = 64

Pictures = NDArray[np.uint8]
Features = NDArray[np.float32]


class PictureFeatures(Protocol):
    """Features of pictures. ``mirrors``: training reads mirror images too."""

    mirrors: bool

    def learn(self, pictures: Pictures, seed: int) -> Arrays:
        """Return what is learned from the training pictures (N, H, W, 3) and stored with the weights."""

    def of(self, pictures: Pictures, learned: Arrays) -> Features:
        """Return one row per picture, (N, F)."""


def read_pictures(images: Sequence[PlainImage]) -> Pictures:
    """Return the images' pictures, (N, HEIGHT, WIDTH, 3). Raises CounterpartError for one without a readable file."""
    small = (image.open().resize((WIDTH, HEIGHT), Pillow.Resampling.BOX) for image in images)
    return np.stack([np.asarray(picture) for picture in small])


@dataclass(frozen=True)
class Scale:
    """One size at which patches are cut: the picture's, side and step of patches in its pixels, number of words."""

    width: int
    height: int
    side: int
    step: int
    words: int

    @property
    def patches(self) -> int:
        """Number of patches of a picture."""
        return ((self.height - self.side) // self.step + 1) * ((self.width - self.side) // self.step + 1)


class Patches:
    """Similarity of a picture's patches to the words of a learned visual dictionary: largest and mean.

    Coates, Lee and Ng (2011), "An analysis of single-layer networks in unsupervised feature learning": patches
    whitened, k-means, and the "triangle" code max(0, mean distance - distance). Pooled over the whole picture,
    so that positions do not matter.
    """

    mirrors = True
    scales = (Scale(64, 48, 8, 3, 256), Scale(48, 36, 12, 2, 320), Scale(48, 36, 16, 3, 320))
    sample = 20_000
    components = 80
    rounds = 8

    def learn(self, pictures: Pictures, seed: int) -> Arrays:
        """Learn each scale's whitening and its words."""
        generator = torch.Generator().manual_seed(seed)
        learned: Arrays = {}
        for number, scale in enumerate(self.scales):
            patches = self._some_patches(pictures, scale, generator)
            mean, whitening = _whitening(patches, self.components)
            words = _k_means((patches - mean) @ whitening, scale.words, self.rounds)
            for name, tensor in (("mean", mean), ("whitening", whitening), ("words", words)):
                learned[f"patches{number}_{name}"] = tensor.numpy()
        return learned

    def of(self, pictures: Pictures, learned: Arrays) -> Features:
        """Return the pooled codes of all scales, two numbers per word."""
        codes = []
        for number, scale in enumerate(self.scales):
            mean, whitening, words = (
                torch.from_numpy(learned[f"patches{number}_{name}"]) for name in ("mean", "whitening", "words")
            )
            # Whitening every patch is a convolution, which need not cut them out.
            filters = whitening.T.reshape(-1, 3, scale.side, scale.side)
            whitened = (
                functional.conv2d(part, filters, -mean @ whitening, stride=scale.step).flatten(2).transpose(1, 2)
                for part in self._resized(pictures, scale)
            )
            codes.append(torch.cat([_pooled_codes(part, words) for part in whitened]))
        return torch.cat(codes, 1).numpy()

    def _some_patches(self, pictures: Pictures, scale: Scale, generator: torch.Generator) -> Tensor:
        """Cut about ``sample`` patches at random places: (patches, 3 * side * side)."""
        share = min(1.0, self.sample / (len(pictures) * scale.patches))
        cut = []
        for part in self._resized(pictures, scale):
            windows = part.unfold(2, scale.side, scale.step).unfold(3, scale.side, scale.step)
            windows = windows.permute(0, 2, 3, 1, 4, 5)
            chosen = torch.rand(windows.shape[:3], generator=generator) < share
            cut.append(windows[chosen].flatten(1))
        patches = torch.cat(cut)
        return patches[torch.randperm(len(patches), generator=generator)]

    def _resized(self, pictures: Pictures, scale: Scale) -> Iterator[Tensor]:
        """Yield pictures in chunks, at the scale's size: (pictures, 3, height, width), 0 to 1."""
        for start in range(0, len(pictures), CHUNK):
            part = torch.from_numpy(pictures[start : start + CHUNK]).permute(0, 3, 1, 2).float() / 255
            yield functional.interpolate(part, size=(scale.height, scale.width), mode="area")


class Histogram:
    """Colours and edge directions in a grid of cells: square roots of counts."""

    mirrors = False
    hues = 12
    saturations = 3
    values = 4
    directions = 8

    def learn(self, pictures: Pictures, seed: int) -> Arrays:
        """Return nothing; nothing is learned."""
        return {}

    def of(self, pictures: Pictures, learned: Arrays) -> Features:
        """Return colours of the whole and of 3 x 4 cells, and edges in 6 x 8 cells."""
        return np.stack([self._one(Pillow.fromarray(picture)) for picture in pictures])

    def _one(self, picture: Pillow.Image) -> Features:
        hue, saturation, value = np.moveaxis(np.asarray(picture.convert("HSV"), dtype=np.int64), 2, 0)
        shades = self.saturations * self.values
        colour = hue * self.hues // 256 * shades
        colour += saturation * self.saturations // 256 * self.values + value * self.values // 256
        down, along = np.gradient(np.asarray(picture.convert("L"), dtype=np.float64))
        direction = ((np.arctan2(down, along) % np.pi) * self.directions / np.pi).astype(np.int64) % self.directions
        even = np.ones(colour.shape)
        counts = [
            _cell_counts(colour, even, (1, 1), self.hues * shades),
            _cell_counts(colour, even, (3, 4), self.hues * shades),
            _cell_counts(direction, 0.1 * np.hypot(down, along), (6, 8), self.directions),
        ]
        return np.sqrt(np.concatenate(counts)).astype(np.float32)


PICTURE_FEATURES: dict[str, PictureFeatures] = {"patches": Patches(), "histogram": Histogram()}


def _whitening(patches: Tensor, components: int) -> tuple[Tensor, Tensor]:
    """Return the mean and the projection onto the largest principal components, each of about unit variance."""
    mean = patches.mean(0)
    values, vectors = torch.linalg.eigh(torch.cov((patches - mean).T))
    values = values.flip(0)[:components]
    vectors = vectors.flip(1)[:, :components]
    return mean, vectors / (values + 0.01 * values.mean() + 1e-6).sqrt()


def _k_means(points: Tensor, k: int, rounds: int) -> Tensor:
    """Return ``k`` centres, or as many as there are points, starting from the first points, which are in random
    order."""
    centres = points[:k].clone()
    for _ in range(rounds):
        nearest = _squared_distances(points, centres).argmin(1)
        sums = torch.zeros_like(centres).index_add_(0, nearest, points)
        members = torch.bincount(nearest, minlength=len(centres))[:, None]
        centres = torch.where(members > 0, sums / members.clamp(min=1), centres)
    return centres


def _pooled_codes(patches: Tensor, words: Tensor) -> Tensor:
    distances = _squared_distances(patches.flatten(0, 1), words).clamp(min=0).sqrt()
    codes = (distances.mean(1, keepdim=True) - distances).clamp(min=0).view(*patches.shape[:2], -1)
    return torch.cat([codes.amax(1), codes.mean(1)], 1)


def _squared_distances(points: Tensor, centres: Tensor) -> Tensor:
    return points.square().sum(1, keepdim=True) - 2 * points @ centres.T + centres.square().sum(1)


def _cell_counts(
    kinds: NDArray[np.int64], weights: NDArray[np.float64], grid: tuple[int, int], n_kinds: int
) -> NDArray[np.float64]:
    """Sum the weights of every kind in every cell of a grid (rows, columns), as one row."""
    height, width = kinds.shape
    row = np.arange(height) * grid[0] // height
    column = np.arange(width) * grid[1] // width
    cell = row[:, None] * grid[1] + column[None, :]
    places = cell * n_kinds + kinds
    counts = np.bincount(places.ravel(), weights.ravel(), minlength=grid[0] * grid[1] * n_kinds)
    return counts.astype(np.float64)
