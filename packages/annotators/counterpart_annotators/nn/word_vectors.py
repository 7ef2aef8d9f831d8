"""Word vectors from a text file, GloVe's or word2vec's: on each line a word and its numbers, with spaces between.

word2vec's text begins with a line of two numbers, how many words and how long. Files may be larger than memory: they
are read line by line, and only the vectors of wanted words are kept.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from counterpart_metrics.errors import CounterpartError

LONGEST_LINE = 2**20  # bytes
HEADER = re.compile("[0-9]{1,12} [0-9]{1,6}")


def read_word_vectors(path: Path, words: Collection[str], length: int) -> dict[str, NDArray[np.float32]]:
    """Return the vectors (``length``,) of those ``words`` that the file has; of a repeated word the first.

    Words with spaces in them, which GloVe has, are passed over.

    Raises CounterpartError, with the number of the line, for one that is too long, is not UTF-8 or has too few numbers,
    and for a wanted word's with too many or with one that is not finite; for a file that cannot be read, and for one
    without any of the words.
    """
    found: dict[str, NDArray[np.float32]] = {}
    wanted = set(words)
    for number, line in _lines(path):
        word, _, rest = line.partition(" ")
        if number == 1 and HEADER.fullmatch(line):
            _check_length(path, number, int(rest), length)
        elif word in wanted and word not in found:
            first, *numbers = line.rsplit(" ", length)
            if first == word or _is_number(first.rpartition(" ")[2]):
                _check_length(path, number, rest.count(" ") + 1, length)
                found[word] = _vector(path, number, numbers)
        elif rest.count(" ") + 1 < length:
            _check_length(path, number, len(rest.split()), length)
    if not found:
        raise CounterpartError(
            f"{path} has no vector of any of the {len(wanted):,} words; pass word vectors of the captions' language."
        )
    return found


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers from 1, without white space at their ends; empty ones are left out."""
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                if len(line) > LONGEST_LINE:
                    raise _invalid(path, number, f"has more than {LONGEST_LINE:,} bytes")
                if text := line.decode().strip(" \r\n\t"):
                    yield number, text
    except UnicodeDecodeError:
        raise _invalid(path, number, "is not UTF-8") from None
    except OSError as error:
        raise CounterpartError(f"{path} cannot be read ({error.strerror}); check the option word_vectors.") from None


def _vector(path: Path, number: int, fields: list[str]) -> NDArray[np.float32]:
    try:
        vector = np.array(fields, dtype=np.float32)
    except ValueError as error:
        raise _invalid(path, number, f"has a field that is not a number ({error})") from None
    if not np.isfinite(vector).all():
        raise _invalid(path, number, f"has {int((~np.isfinite(vector)).sum())} numbers that are not finite")
    return vector


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_length(path: Path, number: int, found: int, length: int) -> None:
    if found != length:
        raise CounterpartError(
            f"Line {number} of {path} has a vector of {found} numbers, but the option word is {length}; add the "
            f"annotator with --option word={found}, or pass another file."
        )


def _invalid(path: Path, number: int, what: str) -> CounterpartError:
    return CounterpartError(f"Line {number} of {path} {what}; pass text as GloVe and word2vec have it.")
