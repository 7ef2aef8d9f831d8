"""Reads Crisscrossed Captions' image-caption scores: caption,image,agg_score,sampling_method."""

from collections.abc import Iterator
from pathlib import Path

from corpus.readers.opening import at, csv_rows
from corpus.readers.pair import Pair, score_of
from corpus.readers.record import key_of

HEADER = {"caption", "image", "agg_score", "sampling_method"}


def read_cxc(path: Path) -> Iterator[Pair]:
    """Yield a pair a line: the caption by the id after ``sentid:``, the image by its file name, its score 0-5."""
    for number, row in csv_rows(path):
        with at(path, "line", number):
            pair = Pair(
                key_of(row["image"], "the image"),
                key_of(row["caption"].rpartition("sentid:")[2], "the caption"),
                score_of(row["agg_score"]),
            )
        yield pair
