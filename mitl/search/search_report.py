"""What the lists of a search say of the search itself: lists without information, ties, hubs, collapsed vectors."""

from collections.abc import Iterable, Mapping
from math import exp, log1p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.text import counted
from counterpart_annotators.encoding import Embeddings
from mitl.models import Annotator, Direction
from mitl.search.gallery import RankedLists

Figures = dict[str, Any]
Ids = NDArray[np.int64]
Scores = NDArray[np.floating]
Blocks = Iterable[tuple[Ids, Scores]]

CUT = 5  # places that a pool takes by default
IN_ORDER = 5  # items that such a list has at least: by chance, one of 120 lists is in the order of the rows
BLIND = 0.1
"""Largest share of lists without information that a pool takes: as many HITs go to chance as a round spends on
controls, where two of 18 pairs are controls."""
NEAR = 0.99  # length of the mean of unit vectors, above which they point in one direction
BLOCK = 8_192  # vectors at a time


def says_nothing(items: Ids, scores: Scores) -> NDArray[np.bool_]:
    """Return (Q,) whether a list has equal scores or NaN: its order is then that of the rows. Of fewer than five items,
    which may be all that is found, a list also has the first rows. Lists (Q, k) may end early, in item 0."""
    both = items[:, 1:] != 0
    falls = both & (scores[:, 1:] < scores[:, :-1])
    first = np.isin(items, np.unique(items[items != 0])[: items.shape[1]]) | (items == 0)
    return both.any(1) & ~falls.any(1) & (first.all(1) | (both.sum(1) >= IN_ORDER - 1))


def report_search(lists: Mapping[Direction, Blocks], shape: tuple[int, int]) -> Figures:
    """Return the figures of each direction's lists; ``shape``: the numbers of images and captions searched."""
    n_images, n_captions = shape
    sizes = {Direction.IMAGE_TO_CAPTION: n_captions, Direction.CAPTION_TO_IMAGE: n_images}
    return {direction.value: report_lists(blocks, sizes[direction]) for direction, blocks in lists.items()}


def report_lists(blocks: Blocks, n_items: int) -> Figures:
    """Return the figures of one direction from blocks of items and scores, (Q, k) each, of a gallery of ``n_items``.

    Shares of lists: ``blind`` (``says_nothing``), ``tied`` (places 5 and 6 have one score), ``in_order`` (items in the
    order of the rows) and ``same`` (the commonest list, by its first five places). Of the items: ``skewness`` of their
    occurrences, the share of lists that the commonest, ``hub_item``, is in, ``hub``, and the share that is in no list,
    ``unfound``, with what lists by chance would leave, ``unfound_by_chance``.
    """
    from counterpart_topk.hubness import skewness  # takes a tenth of a second, which only a search should cost

    lists = 0
    sums = dict.fromkeys(("blind", "tied", "in_order"), 0)
    heads = [np.empty(0, np.uint64)]
    ids, times = np.empty(0, np.int64), np.empty(0, np.int64)
    for items, scores in blocks:
        both = items[:, 1:] != 0  # lists end once
        lists += len(items)
        sums["blind"] += int(says_nothing(items, scores).sum())
        sums["tied"] += int((both & (scores[:, 1:] == scores[:, :-1]))[:, CUT - 1 : CUT].sum())
        rising = (~both | (items[:, 1:] > items[:, :-1])).all(1)
        sums["in_order"] += int((rising & (both.sum(1) >= IN_ORDER - 1)).sum())
        heads.append(_hashed(items[:, :CUT]))
        ids, times = _with_more(ids, times, items[items != 0])
    same = np.unique(np.concatenate(heads), return_counts=True)[1]
    return {
        "lists": lists,
        **{name: number / max(1, lists) for name, number in sums.items()},
        "same": int(same.max(initial=0)) / max(1, lists),
        "skewness": skewness(np.concatenate([times, np.zeros(n_items - len(ids))])),
        "hub": int(times.max(initial=0)) / max(1, lists),
        "hub_item": int(ids[times.argmax()]) if len(ids) else None,
        "unfound": 1 - len(ids) / n_items,
        "unfound_by_chance": exp(times.sum() * log1p(-1 / n_items)) if n_items > 1 else 0.0,
    }


def report_vectors(vectors: Embeddings) -> Figures:
    """Return the number of vectors, the share that is a copy of another (``copies``), and the length of the mean of all
    at length 1: 1 where they have one direction (``alike``). A vector of zeros has none."""
    total = np.zeros(vectors[0].size)
    hashes: set[int] = set()
    for start in range(0, len(vectors), BLOCK):
        rows = np.ascontiguousarray(vectors[start : start + BLOCK].reshape(-1, total.size), np.float32)
        sizes = np.linalg.norm(rows, axis=1)
        total += np.divide(1, sizes, out=np.zeros_like(sizes), where=sizes > 0) @ rows
        hashes.update(hash(row.tobytes()) for row in rows)
    return {
        "vectors": len(vectors),
        "copies": 1 - len(hashes) / len(vectors),
        "alike": float(np.linalg.norm(total)) / len(vectors),
    }


def _hashed(rows: NDArray) -> NDArray[np.uint64]:
    """Return a number for each row of whole numbers: other rows have another one, as good as surely."""
    odd = np.random.default_rng(0).integers(2**64, size=rows.shape[1], dtype=np.uint64) | np.uint64(1)
    hashes: NDArray[np.uint64] = (rows.astype(np.uint64) * odd).sum(1, dtype=np.uint64)
    return hashes


def _with_more(ids: Ids, times: Ids, more: Ids) -> tuple[Ids, Ids]:
    found, of_found = np.unique(more, return_counts=True)
    every, place = np.unique(np.concatenate([ids, found]), return_inverse=True)
    return every, np.bincount(place, np.concatenate([times, of_found]), len(every)).astype(np.int64)


HEADS = ("lists", "say nothing", "tied at 5", "row order", "same list", "hub in", "never found", "skewness")
"""Of the columns of ``rows_of``, after that of the direction."""


def rows_of(report: Figures) -> list[list[str]]:
    """Return a row of cells for each direction of a stored report: its label, and the columns of ``HEADS``."""
    return [
        [
            direction.label,
            f"{of['lists']:,}",
            *(f"{of[name]:.1%}" for name in ("blind", "tied", "in_order", "same", "hub")),
            f"{of['unfound']:.0%} (by chance {of['unfound_by_chance']:.0%})",
            f"{of['skewness']:.2f}",
        ]
        for direction in Direction
        if (of := report.get(direction.value))
    ]


def notes_on(report: Figures) -> list[str]:
    """Return a sentence for each figure of a stored report that speaks against the search."""
    notes = []
    for direction in Direction:
        of = report.get(direction.value, {})
        for name, most, words in (
            ("blind", 0, "have equal scores, and are in the order of the rows"),
            ("in_order", BLIND, "are in the order of the rows"),
            ("same", 0.5, "begin with the same items"),
            ("tied", 0.5, f"have a tie at place {CUT}, which the order of the rows decides"),
        ):
            if of.get(name, 0) > most:
                notes.append(f"{direction.label}: {of[name]:.1%} of {counted(of['lists'], 'list')} {words}.")
    for side, of in report.get("vectors", {}).items():
        if of["copies"] > BLIND:
            notes.append(f"{of['copies']:.1%} of {of['vectors']:,} vectors of {side} are copies of others.")
        if of["alike"] > NEAR:
            notes.append(f"The vectors of {side} have nearly one direction ({of['alike']:.3f}; 1: all have the same).")
    return notes


def refuse_blind(annotator: Annotator, direction: Direction, lists: RankedLists) -> None:
    """Raise CounterpartError with the figures where more than ``BLIND`` of the lists say nothing."""
    blind = says_nothing(lists.items, lists.scores)
    if blind.sum() > BLIND * len(blind):
        raise CounterpartError(
            f"{annotator}, {direction.label}: {blind.sum():,} of {counted(len(blind), 'list')} have equal scores, and "
            f"are in the order of the rows; a pool takes at most {BLIND:.0%}, as people would be paid to judge pairs "
            "by chance. Leave this annotator out, or pass --accept-blind."
        )
