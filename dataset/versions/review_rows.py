"""The reviews of a release: what holds is read from the database, written to its file and read back."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.errors import CounterpartError, some_of
from core.text import counted
from corpus.models import Collection
from dataset.models import Review
from dataset.versions.merging import Pair

REVIEW_COLUMNS = ("image", "caption", "conclusion", "level", "grounds", "at")
LISTED = "listed"  # grounds of captions that the caller of a release excluded, without a review
Row = tuple[str, str, str, str, str, str]


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


def review_rows(collection: Collection, *, exclude_captions: Sequence[str] = ()) -> list[Row]:
    """Return a row for every review that holds and for every caption excluded by the caller, in a fixed order.

    Raises CounterpartError for captions to exclude that are not in the collection.
    """
    held = Review.objects.select_related("image", "caption").holding(collection).values()
    rows = [_row(review) for review in held if review.conclusion != Review.Conclusion.KEPT]
    excluded = {caption for image, caption, conclusion, *_ in rows if conclusion == Review.Conclusion.EXCLUDED}
    for key in _known_captions(collection, exclude_captions):
        if key not in excluded:
            rows.append(("", key, Review.Conclusion.EXCLUDED, "", LISTED, ""))
    return sorted(rows)


def read_reviews(path: Path) -> list[Row]:
    """Read the rows of a reviews file."""
    with path.open(newline="", encoding="utf-8") as file:
        return [tuple(row[name] for name in REVIEW_COLUMNS) for row in csv.DictReader(file)]  # type: ignore[misc]


def _row(review: Review) -> Row:
    return (
        review.image.key if review.image else "",
        review.caption.key if review.caption else "",
        review.conclusion,
        str(review.level or ""),
        review.grounds,
        review.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
    )


def _known_captions(collection: Collection, keys: Sequence[str]) -> list[str]:
    known = set(collection.captions.filter(key__in=keys).values_list("key", flat=True)) if keys else set()
    unknown = [key for key in keys if key not in known]
    if unknown:
        raise CounterpartError(
            f"{counted(len(unknown), 'caption to exclude is', 'captions to exclude are')} not in {collection}: "
            f"{some_of(unknown)}. Correct the list."
        )
    return list(dict.fromkeys(keys))
