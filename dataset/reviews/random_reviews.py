"""Verdicts of a round that a reviewer checks at random: the next ones of the draw, and how many were right.

Only verdicts that were drawn at random say how many are right: reviews of pairs that look wrong find more errors than
there are elsewhere. The draw is that of ``dataset.versions.review_rows``, and the reviewed verdicts at its beginning
are the sample, so that no table keeps it.
"""

from functools import partial
from typing import NamedTuple

import pandas as pd
from django.core.cache import cache

from corpus.models import Caption, Image
from dataset.judged.answer_tables import with_ids
from dataset.judged.verdict_files import TABLE, verdict_tables
from dataset.models import Aggregation, Review
from dataset.versions.review_rows import draw_numbers
from hits.models import Control
from hits.question import RIGHT_LEVELS

MOST = 1_000
"""Verdicts of a draw that pages offer and count."""
_MONTH = 30 * 86_400


class Drawn(NamedTuple):
    """A verdict of the draw, by the ids of its image and caption. ``probability``: that its side is right,
    NaN where it is unknown."""

    image: int
    caption: int
    is_match: bool
    votes: int
    probability: float


class Checked(NamedTuple):
    """Verdicts that reviewers checked at random, and whether the side of each was right; ``following``: the verdicts
    of the draw after them that wait for a review, in order."""

    verdicts: list[Drawn]
    right: list[bool]
    following: list[Drawn]

    @property
    def n_right(self) -> int:
        return sum(self.right)


def random_reviews(aggregation: Aggregation) -> Checked:
    """Return what reviewers found of the first verdicts of the round's draw. A level that holds is a check; who only
    keeps a pair as it is has not said what it is. Excluded images and captions are passed over."""
    draw = drawn_verdicts(aggregation)
    images = {one.image for one in draw}
    captions = {one.caption for one in draw}
    gone = [
        set(rows.filter(excluded_at__isnull=False).values_list("pk", flat=True))
        for rows in (Image.objects.filter(pk__in=images), Caption.objects.filter(pk__in=captions))
    ]
    reviews = Review.objects.filter(image__in=images, caption__in=captions)
    held = reviews.holding(aggregation.round.pool.collection)
    levels = {subject: review.level for subject, review in held.items() if review.level}
    left = [one for one in draw if one.image not in gone[0] and one.caption not in gone[1]]
    is_open = [(one.image, one.caption) not in levels for one in left]
    n = is_open.index(True) if True in is_open else len(left)
    right = [one.is_match == _is_match(levels[one.image, one.caption]) for one in left[:n]]
    return Checked(left[:n], right, [one for one, waits in zip(left, is_open, strict=True) if waits])


def drawn_verdicts(aggregation: Aggregation) -> list[Drawn]:
    """Return the first verdicts of the round's draw. Cached: they change only when the votes are counted again, and a
    draw from a million takes ten seconds."""
    key = f"drawn:{aggregation.pk}:{aggregation.at.isoformat()}"
    draw = partial(first_drawn, aggregation, MOST, seed=aggregation.round.seed)
    return cache.get_or_set(key, draw, timeout=_MONTH) or []


def first_drawn(aggregation: Aggregation, n: int, *, seed: int, votes: int | None = None) -> list[Drawn]:
    """Return the first ``n`` verdicts of the draw of a ``seed``; with ``votes`` of those that have as many."""
    first = pd.DataFrame(columns=[*TABLE, "number"])
    for part in verdict_tables(aggregation):
        numbered = part.assign(number=draw_numbers(seed, part["image"], part["caption"]))
        some = numbered if votes is None else numbered[numbered["votes"] == votes]
        first = pd.concat([first, some] if len(first) else [some]).nsmallest(n, "number")
    table = with_ids(first, aggregation.round.pool.collection).assign(is_match=first["level"].map(_is_match))
    columns = (table[name].tolist() for name in Drawn._fields)
    return [Drawn(*row) for row in zip(*columns, strict=True)]


def _is_match(level: int) -> bool:
    return level in RIGHT_LEVELS[Control.Polarity.POSITIVE]
