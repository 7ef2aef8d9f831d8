"""TREC runs, read some lines at a time."""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.text import counted
from evaluation.ranking_files.ranking_blocks import Block, Ids, padded, ranked_block
from mitl.models import Direction

LINES = 500_000  # that are read at a time
COLUMNS = ("query", "Q0", "item", "rank", "score", "tag")


def read_run(path: Path, name: str, ids: Ids) -> Iterator[Block]:
    rest: pd.DataFrame | None = None
    named = [direction for direction in Direction if direction.value in Path(name).stem.lower()]
    fixed = named[0] if len(named) == 1 else None
    for lines in _lines_of(path, name):
        lines = lines if rest is None else pd.concat([rest, lines], ignore_index=True)
        last = lines["query"] == lines["query"].iloc[-1]
        # The last query may go on in the next lines: keep it from where its last stretch begins.
        begins = len(lines) if last.all() else int(np.flatnonzero(~last.to_numpy())[-1]) + 1
        rest, complete = (lines, lines.iloc[:0]) if begins == len(lines) else (lines.iloc[begins:], lines.iloc[:begins])
        if len(complete):
            yield from _run_blocks(name, ids, complete, fixed)
    if rest is not None:
        yield from _run_blocks(name, ids, rest, fixed)


def _lines_of(path: Path, name: str) -> Iterator[pd.DataFrame]:
    """Yield parts of the file with the columns query, item and score. Raises CounterpartError naming a bad line."""
    try:
        parts = pd.read_csv(
            path, sep=r"\s+", header=None, names=list(COLUMNS), dtype=str, chunksize=LINES, quoting=csv.QUOTE_NONE,
            keep_default_na=False, na_values=[""], skip_blank_lines=False, index_col=False, encoding="utf-8",
        )  # fmt: skip
        for part in parts:
            blank = part["query"].isna()
            score = pd.to_numeric(part["score"], errors="coerce")
            wrong = ~blank & (part["tag"].isna() | ~np.isfinite(score.to_numpy(np.float64, na_value=np.nan)))
            if wrong.any():
                raise CounterpartError(
                    f"{name}, line {int(part.index[wrong][0]) + 1}: not a line of a TREC run, "
                    "query Q0 item rank score tag, with a number as its score."
                )
            lines = part.loc[~blank, ["query", "item"]].assign(score=score[~blank].astype(np.float64))
            if len(lines):
                yield lines.reset_index(drop=True)
    except UnicodeDecodeError as error:
        raise CounterpartError(f"{name} is not UTF-8 text (byte {error.start}). Convert it first.") from error
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        reason = str(error).replace("Error tokenizing data. C error: ", "").strip()
        raise CounterpartError(f"{name} is not a TREC run, query Q0 item rank score tag: {reason}.") from error


def _run_blocks(name: str, ids: Ids, lines: pd.DataFrame, fixed: Direction | None) -> Iterator[Block]:
    begins = (lines["query"] != lines["query"].shift()).to_numpy()
    queries = lines["query"].to_numpy(object)[begins]
    codes = np.cumsum(begins) - 1
    # Best first; equal scores keep the order of their lines.
    order = np.lexsort((-lines["score"].to_numpy(), codes))
    items = lines["item"].to_numpy(object)[order]
    scores = lines["score"].to_numpy()[order]
    lengths = np.bincount(codes, minlength=len(queries))
    (rows, ended), (row_scores, _) = padded(items, lengths), padded(scores, lengths)
    chosen = {fixed: np.ones(len(queries), bool)} if fixed else _directions_of(name, ids, queries, rows, ended)
    for direction, mine in chosen.items():
        if mine.any():
            yield ranked_block(name, direction, ids, queries[mine], rows[mine], ended[mine], row_scores[mine])


def _directions_of(
    name: str, ids: Ids, queries: NDArray, items: NDArray, ended: NDArray[np.bool_]
) -> dict[Direction, NDArray[np.bool_]]:
    """Return the queries of each direction: those that, with all their items, are ids of its two sides."""
    fits = {}
    shared = np.ones(len(queries), bool)
    known = ended
    for direction in Direction:
        query_keys, item_keys = ids.of(direction)
        is_query, of_side = query_keys.find(queries) >= 0, item_keys.find(items) >= 0
        fits[direction] = is_query & (of_side | ended).all(1)
        shared = shared & is_query
        known = known | of_side
    i2t, t2i = fits[Direction.IMAGE_TO_CAPTION], fits[Direction.CAPTION_TO_IMAGE]
    # A list that fits neither direction, of ids that are all known, is that of an image and that of a caption.
    if (unclear := shared & (i2t == t2i) & known.all(1)).any():
        raise CounterpartError(
            f"{name}: {counted(unclear.sum(), 'query could', 'queries could')} be images or captions, for example "
            f"{queries[unclear.argmax()]}. Write a file for each direction, with i2t or t2i in its name."
        )
    if (neither := ~i2t & ~t2i).any():
        raise CounterpartError(
            f"{name}: {counted(neither.sum(), 'query is', 'queries are')} no images with lists of captions and no "
            f"captions with lists of images of the gallery, for example {queries[neither.argmax()]}. Use the ids of "
            "the collection."
        )
    return fits
