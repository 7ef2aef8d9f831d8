"""First passes on an accelerator: it multiplies and compares; only the few scores that reach a threshold come back."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mitl.topk.products import Bfloat16Products
from mitl.topk.scanning import Keys, enter, make_keys, start
from mitl.topk.sides import Side
from mitl.topk.tiles import ProductTiles, Target

GROUPS = 4  # of scores, for each of the k best, whose best make a first threshold


class AcceleratedTiles(ProductTiles):
    """bfloat16 products on a torch device. Candidates are kept, scored again and ranked on the processor, so that the
    results are the same bits as without the device."""

    largest = 8_192, 32_768

    def __init__(self, rows: Side, columns: Side, *, device: str) -> None:
        super().__init__(rows, columns, Bfloat16Products())
        self.precision = f"bfloat16 on {device}"
        self._device = device

    def strip(self, rows: slice) -> Tensor:
        return super().strip(rows).to(self._device)

    def panel(self, columns: slice) -> Tensor:
        return super().panel(columns).to(self._device)

    def scan(self, strip: Any, part: slice, panel: Any, rows: Target, columns: Target | None) -> None:
        scores = strip[part] @ panel.T
        _hand_on(scores, rows)
        if columns:
            _hand_on(scores.T, columns)


def _hand_on(scores: Tensor, target: Target) -> None:
    """Send a tile's scores (queries, items) that reach their query's threshold to its buffer."""
    buffers, first = target.buffers, target.first_query
    mine = slice(first, first + len(scores))
    if (buffers.thresholds[mine] == np.iinfo(np.int16).min).any() and scores.shape[1] > GROUPS * buffers.k:
        start(first, _kth_of_groups(scores, buffers.k), buffers)
    floors = torch.from_numpy(_scores_of(buffers.thresholds[mine])).to(scores.device)
    queries, items = torch.nonzero(scores >= floors[:, None], as_tuple=True)
    if len(queries):
        found = _keys_of(scores[queries, items])
        enter(queries.cpu().numpy() + first, found, items.cpu().numpy() + target.first_place, buffers)


def _kth_of_groups(scores: Tensor, k: int) -> Keys:
    """The k-th best of the best scores of some groups of items: k scores of the query reach it."""
    groups = GROUPS * k
    whole = scores.shape[1] // groups * groups
    best = scores[:, :whole].reshape(len(scores), -1, groups).amax(1)
    return _keys_of(best.float().topk(k, dim=1).values[:, -1].to(torch.bfloat16))


def _keys_of(scores: Tensor) -> Keys:
    keys = scores.cpu().contiguous().view(torch.int16).numpy().reshape(1, -1).copy()
    make_keys(keys)
    return keys[0]


def _scores_of(keys: Keys) -> NDArray[np.float32]:
    """The scores of keys, as float32 numbers: minus infinity for queries that take anything, NaN for those that take
    nothing."""
    bits = np.where(keys < 0, keys ^ np.int16(0x7FFF), keys).astype(np.int32) << 16
    floors = bits.view(np.float32).copy()
    floors[keys == np.iinfo(np.int16).min] = -np.inf
    return floors
