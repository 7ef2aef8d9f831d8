"""Approximate products of two sides, tile by tile, and bounds of their errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from time import perf_counter

import numpy as np
import torch
from numpy.typing import NDArray

from counterpart_topk.candidates import Keys
from counterpart_topk.sides import Side

# The error of a float32 sum of D products is at most D + 2 roundings of half a unit in the last place (Higham 2002,
# 3.1); likewise in float64.
FLOAT32_UNIT = 2.0**-24 * 1.01
FLOAT64_UNIT = 2.0**-53 * 1.01
# Products too small for float32 are lost entirely.
UNDERFLOW = 2.0**-120
TRIES = 8


class Products:
    """Products of two sides by torch in one precision, bfloat16 (summed in float32) or float32, tile by tile.

    Torch's threads sleep as soon as they are done; those of NumPy's products stay awake for a while and slow the scan
    down. ``key_type``: that of the scores' bits. ``relative``: the largest relative error of rounding a score.
    """

    def __init__(self, precision: str) -> None:
        self.precision = precision
        short = precision == "bfloat16"
        self.key_type: type[np.signedinteger] = np.int16 if short else np.int32
        self.relative = 2.0**-8 if short else 0.0
        self._kind = torch.bfloat16 if short else torch.float32
        self._bits = torch.int16 if short else torch.int32
        self._out = torch.empty(0, dtype=self._kind)

    def operand(self, embeddings: NDArray) -> torch.Tensor:
        """Return embeddings in the form that ``tile`` multiplies."""
        return torch.from_numpy(writable(embeddings)).to(self._kind)

    def tile(self, rows: torch.Tensor, columns: torch.Tensor) -> Keys:
        """Return the bits of the scores of R rows with C columns, (R, C); the next call overwrites them."""
        if self._out.shape != (len(rows), len(columns)):
            self._out = torch.empty(len(rows), len(columns), dtype=self._kind)
        with whole_operands():
            return torch.mm(rows, columns.T, out=self._out).view(self._bits).numpy()

    def margins(self, queries: Side, items: Side) -> NDArray[np.float64]:
        """Return by how much a true member of the k best may score below the k-th best, a query, (n,)."""
        return rounding_margins(queries, items, queries.losses[self.precision], items.losses[self.precision])


@contextmanager
def whole_operands() -> Iterator[None]:
    """Training in this process may have allowed torch to round the operands of float32 products, and by itself it sums
    those in float16 in float16; the margins hold only for unrounded operands and sums in float32."""
    settings = (torch.backends.mkldnn.matmul, torch.backends.cuda.matmul)  # type: ignore[attr-defined]
    allowed = [setting.fp32_precision for setting in settings]
    halves = torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction
    try:
        for setting in settings:
            setting.fp32_precision = "ieee"
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
        yield
    finally:
        for setting, before in zip(settings, allowed, strict=True):
            setting.fp32_precision = before
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = halves


def rounding_margins(queries: Side, items: Side, query_losses: NDArray, item_losses: NDArray) -> NDArray[np.float64]:
    """With x = x' + r and y = y' + s, |xy - x'y'| <= |r||y| + |x'||s| (Cauchy-Schwarz), plus the rounding errors of the
    sum of x'y', and of the float64 sum that it is compared with. Both of two scores may be wrong by as much.
    """
    longest = items.lengths.max()
    most_lost = item_losses.max()
    kept = queries.lengths + query_losses
    rounding = (queries.dimensions + 2) * (FLOAT32_UNIT + FLOAT64_UNIT) * kept * (longest + most_lost)
    return 2 * (1.001 * (query_losses * longest + kept * most_lost) + rounding + UNDERFLOW)


@cache
def bfloat16_speedup(threads: int) -> float:
    """Measure the speed of bfloat16 products relative to float32 ones on this computer, in about 0.05 s.

    The fastest of several runs of each is taken, since other processes slow single runs.
    """
    rng = np.random.default_rng(0)
    rows, columns = (rng.standard_normal((n, 512), np.float32) for n in (512, 2_048))
    bfloat16, float32 = (_fastest(Products(precision), rows, columns) for precision in ("bfloat16", "float32"))
    return float32 / bfloat16


def _fastest(products: Products, rows: NDArray, columns: NDArray) -> float:
    operands = products.operand(rows), products.operand(columns)
    seconds = []
    for _ in range(TRIES):
        begun = perf_counter()
        products.tile(*operands)
        seconds.append(perf_counter() - begun)
    return min(seconds)


def writable(array: NDArray) -> NDArray:
    """Copy read-only arrays, such as memory maps: torch warns of them, although nothing is written here."""
    return array if array.flags.writeable else np.array(array)
