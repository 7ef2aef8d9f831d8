"""Reads pairs from a CSV with the columns image and caption, and score and grade where a source has them."""

from collections.abc import Iterator
from pathlib import Path

from corpus.readers.opening import at, csv_rows
from corpus.readers.pair import Pair, grade_of, score_of
from corpus.readers.record import key_of

NEEDED = {"image", "caption"}
ALLOWED = NEEDED | {"score", "grade"}


def read_pairs_csv(path: Path) -> Iterator[Pair]:
    """Yield a pair a line; an empty score or grade is none."""
    for number, row in csv_rows(path):
        with at(path, "line", number):
            pair = Pair(
                key_of(row["image"], "the image"),
                key_of(row["caption"], "the caption"),
                score_of(row.get("score", "")),
                grade_of(row.get("grade", "")),
            )
        yield pair
