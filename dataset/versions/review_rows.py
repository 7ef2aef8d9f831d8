"""The reviews of a release: what holds is read from the database, written to its file and read back; and the order in
which a reviewer checks verdicts drawn at random."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.errors import CounterpartError, some_of
from core.seeds import derived_seed
from core.text import counted
from corpus.models import Collection
from dataset.models import Review
from dataset.versions.merging import Pair
from hits.models import Control
from hits.question import RIGHT_LEVELS

REVIEW_COLUMNS = ("image", "caption", "conclusion", "level", "grounds", "at")
LISTED = "listed"  # grounds of captions that the caller of a release excluded, without a review
Row = tuple[str, str, str, str, str, str]
Keys = tuple[Sequence[str], Sequence[str]]
Numbers = NDArray[np.uint64]
_DRAW = 1_000_000  # the part of a round's seed that draws verdicts for reviewers; top-ups have the parts from 1 on


@dataclass(frozen=True)
class Reviewed:
    """The levels that reviewers gave pairs, and the images and captions that leave the dataset."""

    levels: dict[Pair, int] = field(default_factory=dict)
    images: frozenset[str] = frozenset()
    captions: frozenset[str] = frozenset()

    @classmethod
    def of(cls, rows: Iterable[Row]) -> "Reviewed":
        levels = {}
        images = set()
        captions = set()
        for image, caption, conclusion, level, _grounds, _at in rows:
            if conclusion == Review.Conclusion.LEVEL:
                levels[image, caption] = int(level)
            elif image:
                images.add(image)
            else:
                captions.add(caption)
        return cls(levels, frozenset(images), frozenset(captions))

    def keeps(self, pair: Pair) -> bool:
        return pair[0] not in self.images and pair[1] not in self.captions


def draw_numbers(seed: int, images: Iterable[str], captions: Iterable[str]) -> Numbers:
    """Return the number of each pair in the draw of a round, by the keys of its image and its caption: reviewers check
    verdicts in this order. It depends on neither votes nor database ids, so that a release has the same draw."""
    image, caption = (_key_numbers(seed, pd.factorize(np.asarray(keys, object))) for keys in (images, captions))
    mixed = image ^ (caption * np.uint64(0x9E3779B97F4A7C15))
    # The last steps of SplitMix64 (Steele, Lea and Flood 2014): each digit of the result depends on all others.
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def random_prefix(parts: Iterable[Keys], seed: int, reviewed: Reviewed) -> dict[Pair, bool]:
    """Return the verdicts that reviewers checked at random, in the order of the draw, and whether each is a match.

    They are the reviewed pairs before the first one of the round's draw that is not: other pairs may have been reviewed
    because something looked wrong. Pairs whose image or caption is excluded are passed over.

    Args:
        parts: the keys of the images and of the captions of the round's verdicts, some at a time.
        seed: that of the round.
    """
    if not reviewed.levels:
        return {}
    numbers = draw_numbers(seed, *zip(*reviewed.levels, strict=True))
    of_number = dict(zip(numbers.tolist(), reviewed.levels, strict=True))
    found: set[int] = set()
    open_from = np.iinfo(np.uint64).max
    for images, captions in parts:
        gone = pd.Index(images).isin(reviewed.images) | pd.Index(captions).isin(reviewed.captions)
        drawn = draw_numbers(seed, images, captions)[~gone]
        known = np.isin(drawn, numbers)
        found.update(drawn[known].tolist())
        open_from = drawn[~known].min(initial=open_from)
    before = (of_number[number] for number in sorted(found) if number < open_from)
    return {pair: reviewed.levels[pair] in RIGHT_LEVELS[Control.Polarity.POSITIVE] for pair in before}


def review_rows(collection: Collection, *, exclude_captions: Sequence[str] = ()) -> list[Row]:
    """Return a row for every review that holds and for every caption excluded by the caller, in a fixed order.

    Raises CounterpartError for captions to exclude that are not in the collection.
    """
    held = Review.objects.select_related("image", "caption").holding(collection).values()
    rows = [_row(review) for review in held if review.conclusion != Review.Conclusion.KEPT]
    excluded = {caption for image, caption, conclusion, *_ in rows if conclusion == Review.Conclusion.EXCLUDED}
    for key in known_keys(collection, "captions", exclude_captions):
        if key not in excluded:
            rows.append(("", key, Review.Conclusion.EXCLUDED, "", LISTED, ""))
    return sorted(rows)


def read_reviews(path: Path) -> list[Row]:
    """Read the rows of a reviews file."""
    with path.open(newline="", encoding="utf-8") as file:
        return [tuple(row[name] for name in REVIEW_COLUMNS) for row in csv.DictReader(file)]  # type: ignore[misc]


def _key_numbers(seed: int, factorized: tuple[Any, Any]) -> Numbers:
    """Return a number of each of the keys, which are given as codes and the different ones."""
    codes, keys = factorized
    salt = derived_seed(seed, _DRAW).to_bytes(8)
    digests = b"".join(blake2b(key.encode(), digest_size=8, key=salt).digest() for key in keys)
    return np.frombuffer(digests, np.uint64)[codes]


def _row(review: Review) -> Row:
    return (
        review.image.key if review.image else "",
        review.caption.key if review.caption else "",
        review.conclusion,
        str(review.level or ""),
        review.grounds,
        review.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
    )


def known_keys(collection: Collection, side: str, keys: Sequence[str]) -> dict[str, int]:
    """Return the ids of the ``images`` or ``captions`` with these keys, in their order. Raises CounterpartError for
    unknown ones."""
    known = dict(getattr(collection, side).filter(key__in=keys).values_list("key", "pk"))
    if unknown := [key for key in keys if key not in known]:
        raise CounterpartError(
            f"{counted(len(unknown), f'{side[:-1]} is', f'{side} are')} not in {collection}: {some_of(unknown)}. "
            "Correct the list; nothing was changed."
        )
    return {key: known[key] for key in keys}
