"""True levels of a round's items, taken from a match source. Simulated workers answer from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from core.errors import CounterpartError
from corpus.models import Collection, Match
from dataset.merging import MergeTerm, Pair, check_sources, parse_merge
from hits.models import Item, Round
from hits.question import RIGHT_LEVELS, Level

# ECCV Caption, table B.2: means over the five machines' rows "Avg.", as shares within yes and within no.
YES_OF_POSITIVE = 36.38 / (36.38 + 36.74)
MOSTLY_NO_OF_NEGATIVE = 17.40 / (17.40 + 9.48)


@dataclass(frozen=True)
class Seen:
    """An item of a HIT and its true level. ``polarity`` is that of a control, and empty for a candidate."""

    item_id: int
    level: int
    polarity: str = ""

    def is_slip(self, level: int) -> bool:
        """Whether an answer fails a control whose own polarity is right."""
        right = RIGHT_LEVELS.get(self.polarity, ())
        return self.level in right and level not in right


def default_source(collection: Collection) -> str:
    """Return ``truth`` if the collection has that source, otherwise ``original``."""
    known = Match.objects.filter(collection=collection, source="truth").exists()
    return "truth" if known else Match.ORIGINAL


def true_levels(round: Round, *, source: str, seed: int) -> dict[int, list[Seen]]:
    """Return HIT id → its items in order, with their true levels.

    ``source`` is a match source, optionally with a score (``cxc>=3``). A pair that it grades has that grade. Of the
    others, those that the source lists or that are original are matches. Their level is drawn in the shares of
    table B.2: 1 or 2 for a match, 3 or 4 otherwise; but if the source has grades, a pair that it lacks has level 4.
    The draw depends only on ``seed`` and the pair's keys, so all workers see the same truth.
    Raises CounterpartError for an unknown source.
    """
    grades = _grades(round.pool.collection, _term(round.pool.collection, source))
    original = _grades(round.pool.collection, MergeTerm(Match.ORIGINAL))
    has_grades = any(grade is not None for grade in grades.values())
    seen: dict[int, list[Seen]] = {}
    columns = ("hit_id", "pk", "image_id", "caption_id", "image__key", "caption__key", "control__polarity")
    items: Any = Item.objects.filter(hit__round=round).order_by("hit_id", "place").values_list(*columns)
    for hit_id, pk, image_id, caption_id, image, caption, polarity in items:
        pair = (image_id, caption_id)
        grade = grades.get(pair)
        if grade is None:
            chance = _chance(seed, image, caption)
            is_true = pair in grades or pair in original
            grade = _drawn_level(is_true, chance) if is_true or not has_grades else int(Level.NO)
        seen.setdefault(hit_id, []).append(Seen(pk, grade, polarity or ""))
    return seen


def _term(collection: Collection, source: str) -> MergeTerm:
    terms = parse_merge(source)
    if len(terms) != 1:
        raise CounterpartError(f"Invalid truth {source!r}: name one match source.")
    check_sources(collection, terms)
    return terms[0]


def _grades(collection: Collection, term: MergeTerm) -> Mapping[Pair, int | None]:
    rows: Any = Match.objects.filter(term.condition, collection=collection)
    return {(image, caption): grade for image, caption, grade in rows.values_list("image_id", "caption_id", "grade")}


def _chance(seed: int, image: str, caption: str) -> float:
    """Return a number in 0..1 that depends only on the seed and the pair."""
    digest = blake2b(f"{seed}\n{image}\n{caption}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def _drawn_level(is_true: bool, chance: float) -> int:
    if is_true:
        return Level.YES if chance < YES_OF_POSITIVE else Level.PARTIALLY_YES
    return Level.MOSTLY_NO if chance < MOSTLY_NO_OF_NEGATIVE else Level.NO
