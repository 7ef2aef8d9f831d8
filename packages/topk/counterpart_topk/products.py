"""Approximate products of two sides, tile by tile, and bounds of their errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from time import perf_counter
from typing import Any, Protocol

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


class Products(Protocol):
    """Computes tiles of the similarity in one precision."""

    @property
    def name(self) -> str:
        """Name of the precision."""

    @property
    def key_type(self) -> type[np.signedinteger]:
        """The type of the scores' bits."""

    @property
    def relative(self) -> float:
        """Relative error of rounding a score to this precision."""

    def operand(self, embeddings: NDArray) -> Any:
        """Return embeddings in the form that ``tile`` multiplies."""

    def tile(self, rows: Any, columns: Any) -> Keys:
        """Return the bits of the scores of R rows with C columns, (R, C); the next call may overwrite them."""

    def margins(self, queries: Side, items: Side) -> NDArray[np.float64]:
        """Return by how much a true member of the k best may score below the k-th best, a query, (n,)."""


class TorchProducts:
    """Products by torch, into one buffer. Its threads sleep as soon as they are done; those of NumPy's products stay
    awake for a while and slow the scan down."""

    def __init__(self, kind: torch.dtype, bits: torch.dtype) -> None:
        self._kind = kind
        self._bits = bits
        self._out = torch.empty(0, dtype=kind)

    def operand(self, embeddings: NDArray) -> torch.Tensor:
        return torch.from_numpy(writable(embeddings)).to(self._kind)

    def tile(self, rows: torch.Tensor, columns: torch.Tensor) -> Keys:
        if self._out.shape != (len(rows), len(columns)):
            self._out = torch.empty(len(rows), len(columns), dtype=self._kind)
        with whole_operands():
            return torch.mm(rows, columns.T, out=self._out).view(self._bits).numpy()


class Bfloat16Products(TorchProducts):
    """Products in bfloat16, summed in float32: less than half the time if the processor supports them."""

    name = "bfloat16"
    key_type = np.int16
    relative = 2.0**-8

    def __init__(self) -> None:
        super().__init__(torch.bfloat16, torch.int16)

    def margins(self, queries: Side, items: Side) -> NDArray[np.float64]:
        return rounding_margins(queries, items, queries.bfloat16_losses, items.bfloat16_losses)


class Float32Products(TorchProducts):
    """Products in float32."""

    name = "float32"
    key_type = np.int32
    relative = 0.0

    def __init__(self) -> None:
        super().__init__(torch.float32, torch.int32)

    def margins(self, queries: Side, items: Side) -> NDArray[np.float64]:
        return rounding_margins(queries, items, queries.float32_losses, items.float32_losses)


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
    bfloat16, float32 = (_fastest(products, rows, columns) for products in (Bfloat16Products(), Float32Products()))
    return float32 / bfloat16


def choose_products() -> Products:
    """Return the faster products for a first pass on this computer."""
    return Bfloat16Products() if bfloat16_speedup(torch.get_num_threads()) > 1.2 else Float32Products()


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
