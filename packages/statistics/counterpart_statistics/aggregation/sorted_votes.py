"""Votes in any order, sorted by item and worker into batches, in bounded memory."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from counterpart_statistics.aggregation.spooled_rows import SpooledRows
from counterpart_statistics.aggregation.votes import ITEM, LEVELS, Codes, Votes, cells_of

VOTE = np.dtype([("code", np.int64), ("worker", np.int32), ("label", np.int32), ("set", np.int32)])
"""A vote: the code of its item, the places of its worker and of its level, and the number of its answer set."""
PART = 1 << 20  # votes that are sorted at once, about
BATCH = 1 << 18  # votes of a batch, about


def sort_votes(
    chunks: Iterable[NDArray],
    *,
    total: int,
    codes: int,
    workers: pd.Index,
    levels: Sequence[int],
    kinds: NDArray[np.bool_],
    kind_of: Callable[[Codes], Codes],
    item_names: pd.Index | None = None,
) -> Votes:
    """Return the votes of ``chunks``, arrays of ``VOTE``.

    total: how many votes there are, about: it sets into how many parts they are sorted.
    codes: the number of possible codes of items.
    workers: names, sorted; those without a vote are left out.
    kind_of: the place in ``kinds`` of the items of the given codes.

    Raises ValueError for a worker who labelled an item twice.
    """
    parts = _divided(chunks, parts=max(1, ceil(total / PART)), codes=codes)
    items = SpooledRows(ITEM)
    cells = SpooledRows(np.int32)  # of the workers as they are numbered in the chunks
    sets = SpooledRows(np.int32)
    bounds = [0]
    digests = _WorkerDigests(len(workers), len(levels))
    for part in parts:
        votes = _sorted_part(part.read())
        found, counts = _counted(votes["code"])
        digests.add(votes, np.repeat(np.arange(len(items), len(items) + len(found)), counts))
        bounds += (len(items) + _batch_ends(counts)).tolist()
        rows = np.zeros(len(found), ITEM)
        rows["code"] = found
        rows["votes"] = counts
        rows["end"] = len(items) + len(cells) + np.cumsum(counts + 1)
        rows["kind"] = kind_of(found)
        items.append(rows)
        cells.append(votes["worker"] * len(levels) + votes["label"])
        sets.append(votes["set"])
    if digests.repeated:
        raise ValueError(f"{digests.repeated} labels repeat an item and worker; keep one of each.")
    order = digests.order()
    final, of_votes = _renumbered(items, cells, sets, bounds, order, len(levels))
    return Votes(items, final, of_votes, bounds, workers[order], levels, kinds, item_names)


def _divided(chunks: Iterable[NDArray], *, parts: int, codes: int) -> list[SpooledRows]:
    """Return the votes in parts that ascend by code: of equal ranges of codes, hence of about equal size."""
    files = [SpooledRows(VOTE) for _ in range(parts)]
    for chunk in chunks:
        part = (chunk["code"] // -(-codes // parts)).astype(np.int16)
        ends = np.cumsum(np.bincount(part, minlength=parts))
        ordered = chunk[np.argsort(part, kind="stable")] if parts > 1 else chunk
        for file, rows in zip(files, np.split(ordered, ends[:-1]), strict=True):
            file.append(rows)
    return files


def _sorted_part(votes: NDArray) -> NDArray:
    code = votes["code"]
    return votes if (code[1:] >= code[:-1]).all() else votes[np.argsort(code, kind="stable")]


def _counted(codes: Codes) -> tuple[Codes, Codes]:
    """Return the different ones of sorted codes, and how often each occurs."""
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    return codes[starts], np.diff(starts, append=len(codes))


def _batch_ends(counts: Codes) -> Codes:
    """Return the numbers of items up to the end of each batch."""
    return np.flatnonzero(np.diff((np.cumsum(counts) - counts) // BATCH, append=-1)) + 1


class _WorkerDigests:
    """A digest of what each worker voted on and how, by which the workers are ordered."""

    def __init__(self, workers: int, levels: int) -> None:
        self._digests = [hashlib.sha256() for _ in range(workers)]
        self._voted = np.zeros(workers, dtype=bool)
        self._levels = levels
        self.repeated = 0

    def add(self, votes: NDArray, items: Codes) -> None:
        """Add votes on ``items``, whose numbers ascend; the next votes are on later ones."""
        if not len(votes):
            return
        first = items[0]
        width = (items[-1] - first + 1) * self._levels
        keys = np.sort(votes["worker"] * width + (items - first) * self._levels + votes["label"])
        self.repeated += int((np.diff(keys // self._levels) == 0).sum())
        workers = keys // width
        answers = np.stack([keys % width // self._levels + first, keys % self._levels], axis=1)
        found, counts = _counted(workers)
        self._voted[found] = True
        begin = 0
        for worker, count in zip(found.tolist(), counts.tolist(), strict=True):
            self._digests[worker].update(answers[begin : begin + count].data)
            begin += count

    def order(self) -> Codes:
        """Return the workers who voted, by digest."""
        voted = np.flatnonzero(self._voted).tolist()
        return np.array(sorted(voted, key=lambda worker: self._digests[worker].digest()), dtype=np.int64)


def _renumbered(
    items: SpooledRows,
    cells: SpooledRows,
    sets: SpooledRows,
    bounds: Sequence[int],
    order: Codes,
    levels: int,
) -> tuple[SpooledRows, SpooledRows]:
    """Return the cells with the workers numbered in their ``order``, and after those of each item the cell of its kind
    (``votes.Batch``), and the sets of the votes in the same order."""
    numbers = np.zeros(order.max(initial=-1) + 1, dtype=np.int64)
    numbers[order] = np.arange(len(order))
    of_workers = len(order) * levels
    final = SpooledRows(np.int32)
    of_votes = SpooledRows(np.int32)
    for item, next_item in pairwise(bounds):
        rows = items.read(item, next_item)
        first, last = cells_of(rows)
        old = cells.read(first - item, last - next_item)
        places = np.repeat(np.arange(len(rows)), rows["votes"])
        new = numbers[old // levels] * levels + old % levels
        sorted_by = np.argsort(places * of_workers + new, kind="stable")
        whole = np.empty(len(old) + len(rows), np.int32)
        whole[np.arange(len(old)) + places] = new[sorted_by]
        whole[np.cumsum(rows["votes"] + 1) - 1] = of_workers + rows["kind"]
        final.append(whole)
        of_votes.append(sets.read(first - item, last - next_item)[sorted_by])
    return final, of_votes


def read_votes(
    labels: pd.DataFrame,
    *,
    levels: Sequence[int] | None = None,
    gold: Mapping[Any, Iterable[int]] | None = None,
) -> Votes:
    """Check a table of ``item``, ``worker`` and ``label`` and return its votes.

    A column ``set`` has the numbers of the answer sets; without it each worker is one. ``levels`` None means 1-4 if
    they cover the labels, otherwise the labels that occur. ``gold`` gives the right levels of items whose answer is
    known. Raises ValueError for a missing column, a label outside the levels, a set that is not a number, a worker who
    labelled an item twice, or a gold item with no right level.
    """
    scale = checked_scale(labels, levels)
    items, item_names = pd.factorize(labels["item"], sort=True)
    workers, worker_names = pd.factorize(labels["worker"], sort=True)
    votes = np.zeros(len(labels), VOTE)
    votes["code"] = items
    votes["worker"] = workers
    votes["set"] = labels.get("set", workers)
    votes["label"] = np.searchsorted(np.array(scale), labels["label"].to_numpy())
    kinds, kind_by_item = kinds_of(pd.Index(item_names), scale, gold or {})
    return sort_votes(
        [votes],
        total=len(votes),
        codes=max(len(item_names), 1),
        workers=pd.Index(worker_names),
        levels=scale,
        kinds=kinds,
        kind_of=kind_by_item.__getitem__,
        item_names=pd.Index(item_names),
    )


def kinds_of(
    items: pd.Index, levels: Sequence[int], gold: Mapping[Any, Iterable[int]]
) -> tuple[NDArray[np.bool_], Codes]:
    """Return the levels that the items of each kind may have, and the kind of each item; gold items without
    labels are left out."""
    by_right: dict[frozenset[int], list[Any]] = {}
    for item, right in gold.items():
        by_right.setdefault(frozenset(right), []).append(item)
    kinds = [[True] * len(levels)]
    kind_by_item = np.zeros(len(items), dtype=np.int64)
    for right_levels, members in by_right.items():
        known = [level in right_levels for level in levels]
        if not any(known):
            raise ValueError(f"{len(members)} gold items have no right level among the levels: {members[0]!r}, ….")
        if known not in kinds:
            kinds.append(known)
        places = items.get_indexer(pd.Index(members))
        kind_by_item[places[places >= 0]] = kinds.index(known)
    return np.array(kinds), kind_by_item


def checked_scale(labels: pd.DataFrame, levels: Sequence[int] | None) -> list[int]:
    """Return the levels, ascending; raises ValueError as ``read_votes`` does for columns, names, labels and sets."""
    missing = {"item", "worker", "label"} - set(labels.columns)
    if missing:
        raise ValueError(f"Missing columns of the labels: {', '.join(sorted(missing))}.")
    seen = set(labels["label"].unique())
    scale = sorted(levels or (LEVELS if seen <= set(LEVELS) else seen))
    if foreign := seen - set(scale):
        raise ValueError(f"{len(foreign)} labels are not among the levels: {', '.join(map(str, sorted(foreign)))}.")
    if nameless := int(labels[["item", "worker"]].isna().any(axis=1).sum()):
        raise ValueError(f"{nameless} labels have no item or no worker; name them or drop them.")
    sets = pd.to_numeric(labels["set"], errors="coerce") if "set" in labels else pd.Series(dtype=int)
    if wrong := int((~sets.between(-(2**31), 2**31 - 1) | (sets % 1 != 0)).sum()):
        raise ValueError(f"{wrong} labels have an answer set that is not a whole number of 32 bits; number the sets.")
    return scale
