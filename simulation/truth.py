"""True levels of a round's items, taken from a match source. Simulated workers answer from them."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from math import log2
from typing import Any, NamedTuple

from core.errors import CounterpartError, some_of
from corpus.models import Collection, Match
from dataset.versions.merging import MergeTerm, check_sources, parse_merge
from hits.models import Item, Round
from hits.question import RIGHT_LEVELS, Level
from hits.task_types import task_type_of
from hits.task_types.determinate import DETERMINATE
from mitl.models import Pool

# ECCV Caption, table B.2: means over the five machines' rows "Avg.", as shares within yes and within no.
YES_OF_POSITIVE = 36.38 / (36.38 + 36.74)
MOSTLY_NO_OF_NEGATIVE = 17.40 / (17.40 + 9.48)
FEW = 3
"""Images that a determinate caption matches at most: this project's guess, as no paper has a number."""

FIRST = 2
"""Places of an annotator's lists that its followers call a match."""

Grades = Mapping[tuple[int, int], int | None]
"""(image id, caption id) → the level that a source gives the pair, if it has levels."""


@dataclass(frozen=True)
class Seen:
    """An item of a HIT and its true level. ``polarity`` is that of a control, and empty for a candidate. ``is_first``:
    the annotator whom some workers follow ranks it among the first FIRST."""

    item_id: int
    level: int
    polarity: str = ""
    is_first: bool = False

    def is_slip(self, level: int) -> bool:
        """Whether an answer fails a control whose own polarity is right."""
        right = RIGHT_LEVELS.get(self.polarity, ())
        return self.level in right and level not in right


def default_source(collection: Collection) -> str:
    """Return ``truth`` if the collection has that source, otherwise ``original``."""
    known = Match.objects.filter(collection=collection, source="truth").exists()
    return "truth" if known else Match.ORIGINAL


def true_levels(round: Round, *, source: str, seed: int, followed: str = "") -> dict[int, list[Seen]]:
    """Return HIT id → its items in order, with their true levels, and what the annotator ``followed`` ranks first.

    ``source`` is a match source, optionally with a score (``cxc>=3``). A pair that it grades has that grade. Of the
    others, those that the source lists or that are original are matches. Their level is drawn in the shares of
    table B.2: 1 or 2 for a match, 3 or 4 otherwise; but if the source has grades, every other pair has level 4.
    The draw depends only on ``seed`` and the pair's keys, so all workers see the same truth.

    If the answers are not about pairs, 1 is the first answer and 4 the second: a caption is determinate if it matches
    at most FEW images, and the better of two rankings has the higher gain (``_gain``; of equal ones either).
    A sentence that workers write has no truth. Raises CounterpartError for an unknown source, and for an annotator that
    is not of the pool.
    """
    level_of = _levels_by(round, source, seed)
    first = _first_pairs(round.pool, followed) if followed else frozenset()
    seen: dict[int, list[Seen]] = {}
    columns = ("hit_id", "pk", "image_id", "caption_id", "image__key", "caption__key", "control__polarity", "content")
    items = Item.shown.filter(hit__round=round).order_by("hit_id", "place").values_list(*columns)
    for item in map(_Asked._make, items):
        is_first = (item.image, item.caption) in first
        seen.setdefault(item.hit, []).append(Seen(item.pk, level_of(item), item.polarity or "", is_first))
    return seen


def _first_pairs(pool: Pool, followed: str) -> frozenset[tuple[int, int]]:
    proposed = pool.proposals.filter(annotator__name=followed)
    if not proposed.exists():
        names = pool.retrievals.order_by("annotator__name").values_list("annotator__name", flat=True)
        raise CounterpartError(f"Pool {pool} has no annotator {followed} to follow. It has {some_of(list(names))}.")
    return frozenset(proposed.filter(rank__lte=FIRST).values_list("image_id", "caption_id"))


class _Asked(NamedTuple):
    """An item with the ids and keys of its image and caption (None where it has none), and its rankings."""

    hit: int
    pk: int
    image: int
    caption: int
    image_key: str
    caption_key: str
    polarity: str | None
    content: dict[str, Any] | None


def _levels_by(round: Round, source: str, seed: int) -> Callable[[_Asked], int]:
    task = task_type_of(round)
    collection = round.pool.collection
    if task.writes:
        return lambda item: int(Level.YES)
    grades = _grades(collection, _term(collection, source))
    original = _grades(collection, MergeTerm(Match.ORIGINAL))
    if task.on_pairs:
        has_grades = any(grade is not None for grade in grades.values())
        return partial(_level_of_pair, grades, original, has_grades, seed)
    images = _images_of_captions(grades, original)
    if task is DETERMINATE:
        return lambda item: Level.YES if len(images[item.caption]) <= FEW else Level.NO
    return partial(_level_of_rankings, images, seed)


def _level_of_pair(grades: Grades, original: Grades, has_grades: bool, seed: int, item: _Asked) -> int:
    pair = (item.image, item.caption)
    grade = grades.get(pair)
    if grade is not None:
        return grade
    is_true = pair in grades or pair in original
    if has_grades and not is_true:
        return int(Level.NO)
    chance = _chance(seed, item.image_key, item.caption_key)
    if is_true:
        return Level.YES if chance < YES_OF_POSITIVE else Level.PARTIALLY_YES
    return Level.MOSTLY_NO if chance < MOSTLY_NO_OF_NEGATIVE else Level.NO


def _level_of_rankings(images: Mapping[int, set[int]], seed: int, item: _Asked) -> int:
    content: Any = item.content
    left, right = (_gain(ranking, images[item.caption]) for ranking in content["rankings"])
    if left == right:
        left += _chance(seed, "-".join(content["systems"]), item.caption_key) - 0.5
    return Level.YES if left > right else Level.NO


def _gain(ranking: Sequence[int], right: set[int]) -> float:
    """Return the discounted cumulative gain of a ranking of images (Järvelin and Kekäläinen 2002, in base 2)."""
    return sum(1 / log2(rank + 1) for rank, image in enumerate(ranking, 1) if image in right)


def _images_of_captions(*sources: Grades) -> Mapping[int, set[int]]:
    """Return caption id → its images in any of the sources, at a level that is a match where they have one."""
    images: dict[int, set[int]] = defaultdict(set)
    for grades in sources:
        for (image, caption), grade in grades.items():
            if grade is None or grade <= Level.PARTIALLY_YES:
                images[caption].add(image)
    return images


def _term(collection: Collection, source: str) -> MergeTerm:
    terms = parse_merge(source)
    if len(terms) != 1:
        raise CounterpartError(f"Invalid truth {source!r}: name one match source.")
    check_sources(collection, terms)
    return terms[0]


def _grades(collection: Collection, term: MergeTerm) -> Grades:
    rows: Any = Match.objects.filter(term.condition, collection=collection)
    return {(image, caption): grade for image, caption, grade in rows.values_list("image_id", "caption_id", "grade")}


def _chance(seed: int, image: str, caption: str) -> float:
    """Return a number in 0..1 that depends only on the seed and the pair."""
    digest = blake2b(f"{seed}\n{image}\n{caption}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64
