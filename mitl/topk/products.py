"""Approximate products of two sides, tile by tile, and by how much they may be wrong."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from time import perf_counter
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from mitl.topk.scanning import Keys
from mitl.topk.sides import Side

# A float32 sum of D products is off by at most D + 2 roundings of half a unit in the last place (Higham 2002, 3.1);
# that of a float64 sum likewise.
FLOAT32_UNIT = 2.0**-24 * 1.01
FLOAT64_UNIT = 2.0**-53 * 1.01
# Products too small for float32 are lost entirely.
UNDERFLOW = 2.0**-120
TRIES = 8


class Products(Protocol):
    """Computes tiles of the similarity in one precision."""

    @property
    def name(self) -> str:
        """The precision's."""

    @property
    def key_type(self) -> type[np.signedinteger]:
        """The type of the scores' bits."""

    @property
    def relative(self) -> float:
        """By which share of itself a score is rounded on its way out."""

    def operand(self, embeddings: NDArray) -> Any:
        """Return embeddings as they are multiplied."""

    def tile(self, rows: Any, columns: Any) -> Keys:
        """Return the bits of the scores of R rows with C columns, (R, C); the next call may overwrite them."""

    def margins(self, queries: Side, items: Side) -> NDArray[np.float64]:
        """Return how far below the k-th best score of a query its true member may lie among these items, (n,)."""


class TorchProducts:
    """Products by torch, into one buffer. Its threads sleep at once when they are done; those of NumPy's products stay
    awake for a while, in the way of the scan's."""

    def __init__(self, kind: torch.dtype, bits: torch.dtype) -> None:
        self._kind, self._bits = kind, bits
        self._out = torch.empty(0, dtype=kind)

    def operand(self, embeddings: NDArray) -> torch.Tensor:
        return torch.from_numpy(_writable(embeddings)).to(self._kind)

    def tile(self, rows: torch.Tensor, columns: torch.Tensor) -> Keys:
        if self._out.shape != (len(rows), len(columns)):
            self._out = torch.empty(len(rows), len(columns), dtype=self._kind)
        with _whole_operands():
            return torch.mm(rows, columns.T, out=self._out).view(self._bits).numpy()


class Bfloat16Products(TorchProducts):
    """Products in bfloat16, added up in float32: less than half the time where the processor has them."""

    name = "bfloat16"
    key_type = np.int16
    relative = 2.0**-8

    def __init__(self) -> None:
        super().__init__(torch.bfloat16, torch.int16)

    def margins(self, queries: Side, items: Side) -> NDArray[np.float64]:
        return _margins(queries, items, queries.bfloat16_losses, items.bfloat16_losses)


class Float32Products(TorchProducts):
    """Products in float32."""

    name = "float32"
    key_type = np.int32
    relative = 0.0

    def __init__(self) -> None:
        super().__init__(torch.float32, torch.int32)

    def margins(self, queries: Side, items: Side) -> NDArray[np.float64]:
        return _margins(queries, items, queries.float32_losses, items.float32_losses)


@contextmanager
def _whole_operands() -> Iterator[None]:
    """Whoever trains in this process may have allowed torch to round the operands of float32 products; margins count on
    the whole ones."""
    settings = torch.backends.mkldnn.matmul  # type: ignore[attr-defined]
    allowed, settings.fp32_precision = settings.fp32_precision, "ieee"
    try:
        yield
    finally:
        settings.fp32_precision = allowed


def _margins(queries: Side, items: Side, query_losses: NDArray, item_losses: NDArray) -> NDArray[np.float64]:
    """With x = x' + r and y = y' + s, |xy - x'y'| <= |r||y| + |x'||s| (Cauchy-Schwarz), and the sum of x'y' is off by
    its roundings; the reference is a float64 sum, and its own roundings count. Both scores compared may be off.
    """
    longest, most_lost = items.lengths.max(), item_losses.max()
    kept = queries.lengths + query_losses
    rounding = (queries.dimensions + 2) * (FLOAT32_UNIT + FLOAT64_UNIT) * kept * (longest + most_lost)
    return 2 * (1.001 * (query_losses * longest + kept * most_lost) + rounding + UNDERFLOW)


@cache
def bfloat16_speedup(threads: int) -> float:
    """Measure, in some hundredths of a second, how many times faster bfloat16 products are than float32 ones here.

    The best of several tries each, since other work on the machine slows single ones.
    """
    rng = np.random.default_rng(0)
    rows, columns = (rng.standard_normal((n, 512), np.float32) for n in (512, 2_048))
    bfloat16, float32 = (_fastest(products, rows, columns) for products in (Bfloat16Products(), Float32Products()))
    return float32 / bfloat16


def choose_products() -> Products:
    """Return the products for a first pass on this machine."""
    return Bfloat16Products() if bfloat16_speedup(torch.get_num_threads()) > 1.2 else Float32Products()


def _fastest(products: Products, rows: NDArray, columns: NDArray) -> float:
    operands = products.operand(rows), products.operand(columns)
    seconds = []
    for _ in range(TRIES):
        begun = perf_counter()
        products.tile(*operands)
        seconds.append(perf_counter() - begun)
    return min(seconds)


def _writable(array: NDArray) -> NDArray:
    """torch warns of arrays that must not be written, such as memory maps, though nothing writes here."""
    return array if array.flags.writeable else np.array(array)
