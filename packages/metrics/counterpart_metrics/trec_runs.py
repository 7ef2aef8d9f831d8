"""TREC runs, read some lines at a time."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from counterpart_metrics.arrays import DIRECTIONS, Floats, Mask
from counterpart_metrics.errors import CounterpartError, counted
from counterpart_metrics.ids import Ids
from counterpart_metrics.ranking_blocks import Block, padded, ranked_block
from counterpart_metrics.text_files import as_text

LINES = 500_000  # that are read at a time


class RunLines(NamedTuple):
    """The columns of some lines, (n,) each; ids are texts."""

    queries: NDArray[np.object_]
    items: NDArray[np.object_]
    ranks: Floats
    scores: Floats

    def part(self, which: slice) -> "RunLines":
        return RunLines(self.queries[which], self.items[which], self.ranks[which], self.scores[which])

    def followed_by(self, more: "RunLines") -> "RunLines":
        queries, items = (np.concatenate([self[column], more[column]]) for column in (0, 1))
        ranks, scores = (np.concatenate(both) for both in ((self.ranks, more.ranks), (self.scores, more.scores)))
        return RunLines(queries, items, ranks, scores)


def read_run(path: Path, name: str, ids: Ids) -> Iterator[Block]:
    yield from blocks_of_lines(name, ids, (("", lines) for lines in _lines_of(path, name)))


def blocks_of_lines(name: str, ids: Ids, parts: Iterable[tuple[str, RunLines]]) -> Iterator[Block]:
    """Yield the rankings of (direction, lines); where it is "", the file's name has it, or the ids show it."""
    named = [direction for direction in DIRECTIONS if direction in Path(name).stem.lower()]
    fixed = named[0] if len(named) == 1 else ""
    rest: dict[str, RunLines] = {}
    for direction, more in parts:
        lines = rest[direction].followed_by(more) if direction in rest else more
        # The last query may go on in the next lines: keep it from where its last stretch begins.
        others = np.flatnonzero(lines.queries != lines.queries[-1])
        begins = int(others[-1]) + 1 if len(others) else 0
        rest[direction] = lines.part(slice(begins, None))
        if begins:
            yield from _run_blocks(name, ids, lines.part(slice(begins)), direction or fixed)
    for direction, lines in rest.items():
        yield from _run_blocks(name, ids, lines, direction or fixed)


def _lines_of(path: Path, name: str) -> Iterator[RunLines]:
    """Yield parts of the file, without blank lines. Raises CounterpartError naming a bad line."""
    read = 0
    with path.open("rb") as file, as_text(name, file) as text:
        while some := list(islice(text, LINES)):
            wrong = next((place for place, line in enumerate(some, 1) if not _is_line(line.split())), None)
            if wrong is not None:
                raise CounterpartError(
                    f"{name}, line {read + wrong}: not a line of a TREC run, query Q0 item rank score tag, with a "
                    "number as its score."
                )
            # One list of all texts: a list a line would keep Python's garbage collector busy.
            fields = "".join(some).replace("\ufeff", "").split()
            if fields:
                queries, items = (np.array(fields[column::6], object) for column in (0, 2))
                yield RunLines(queries, items, _ranks(fields[3::6]), np.array(list(map(float, fields[4::6]))))
            read += len(some)


def _is_line(fields: list[str]) -> bool:
    """Whether it is blank, or a line of a run."""
    try:
        return not fields or (len(fields) == 6 and isfinite(float(fields[4])))
    except ValueError:
        return False


def _ranks(column: list[str]) -> Floats:
    """Return the ranks; NaN where the column holds something else."""
    try:
        return np.array(list(map(float, column)))
    except ValueError:
        return np.full(len(column), np.nan)


def _run_blocks(name: str, ids: Ids, lines: RunLines, fixed: str) -> Iterator[Block]:
    begins = np.concatenate([[True], lines.queries[1:] != lines.queries[:-1]])
    queries = lines.queries[begins]
    codes = np.cumsum(begins) - 1
    # Best first; equal scores keep the order of their lines.
    order = np.lexsort((-lines.scores, codes))
    lengths = np.bincount(codes, minlength=len(queries))
    rows, ended = padded(lines.items[order], lengths)
    row_scores, _ = padded(lines.scores[order], lengths)
    ranks, _ = padded(lines.ranks[order], lengths)
    falls = (row_scores[:, 1:] < row_scores[:, :-1]) & ~ended[:, 1:]
    contradicted = (falls & (ranks[:, 1:] < ranks[:, :-1])).sum(1) > 0
    chosen = {fixed: np.ones(len(queries), bool)} if fixed else _directions_of(name, ids, queries, rows, ended)
    for direction, mine in chosen.items():
        if mine.any():
            block = ranked_block(name, direction, ids, queries[mine], rows[mine], ended[mine], row_scores[mine])
            rankings = replace(block.rankings, contradicted=int(contradicted[mine].sum()))
            yield Block(direction, rankings)


def _directions_of(name: str, ids: Ids, queries: NDArray, items: NDArray, ended: Mask) -> dict[str, Mask]:
    """Return the queries of each direction: those that, with all of their items that are known, are ids of its two
    sides. Other queries are left out where the gallery is not known as a whole."""
    asked = []
    listed = []
    for direction in DIRECTIONS:
        query_keys, item_keys = ids.of(direction)
        asked.append(query_keys.knows(queries))
        listed.append(item_keys.knows(items) & ~ended)
    known = listed[0] | listed[1]
    fits = [is_query & (of_side | ~known).all(1) for is_query, of_side in zip(asked, listed, strict=True)]
    i2t, t2i = fits
    # A list that fits neither direction, of a query that could be of both, is that of an image and that of a caption.
    if (unclear := asked[0] & asked[1] & (i2t == t2i)).any():
        raise CounterpartError(
            f"{name}: {counted(unclear.sum(), 'query could', 'queries could')} be images or captions, for example "
            f"{queries[unclear.argmax()]}. Write a file for each direction, with i2t or t2i in its name."
        )
    if (neither := ~i2t & ~t2i & (asked[0] | asked[1] | ids.whole)).any():
        raise CounterpartError(
            f"{name}: {counted(neither.sum(), 'query')} of unknown direction, for example {queries[neither.argmax()]}: "
            "neither an image with a list of captions nor a caption with one of images. Use the ids of the collection."
        )
    ids.left_out.update(dict.fromkeys(queries[~i2t & ~t2i].tolist()))
    return dict(zip(DIRECTIONS, fits, strict=True))
