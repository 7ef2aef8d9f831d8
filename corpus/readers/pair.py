"""What every match reader yields: an image and a caption, by the ids that the file uses, and what it says of them."""

from math import isfinite
from typing import NamedTuple


class Pair(NamedTuple):
    """A pair of one source: its own ``score``, and a ``grade`` 1-4 (1 = 100% YES); None where it has none."""

    image: str
    caption: str
    score: float | None = None
    grade: int | None = None


def score_of(text: str) -> float | None:
    """Return the number; None for an empty field. Raises ValueError unless it is finite."""
    if not text.strip():
        return None
    try:
        score = float(text)
    except ValueError:
        score = float("nan")
    if not isfinite(score):
        raise ValueError(f"the score {text!r} is not a number")
    return score


def grade_of(text: str) -> int | None:
    """Return the grade; None for an empty field. Raises ValueError unless it is 1, 2, 3 or 4."""
    if not text.strip():
        return None
    if text.strip() not in ("1", "2", "3", "4"):
        raise ValueError(f"the grade {text!r} is not 1, 2, 3 or 4")
    return int(text)
