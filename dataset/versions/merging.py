"""Match sources that a release merges, written as in ``cxc>=3,original``, and their pairs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Q

from core.errors import CounterpartError, some_of
from core.text import counted
from corpus.matches import sources_of
from corpus.models import Collection, Image, Match
from hits.models import Round

Pair = tuple[str, str]
"""The collection's own ids of an image and a caption."""

_LOOKUPS = {">=": "gte", "<=": "lte", ">": "gt", "<": "lt", "=": "exact"}
_TERM = re.compile(r"(?P<source>[\w.-]+)\s*(?:(?P<operator>>=|<=|>|<|=)\s*(?P<score>[+-]?\d+(?:\.\d+)?))?")


@dataclass(frozen=True)
class MergeTerm:
    """A match source, and optionally a condition on the score of its pairs."""

    source: str
    operator: str = ""
    score: float | None = None

    def __str__(self) -> str:
        # Not as 1e+06, which parse_merge cannot read.
        score = "" if self.score is None else format(Decimal(repr(self.score)), "f").removesuffix(".0")
        return f"{self.source}{self.operator}{score}"

    @property
    def condition(self) -> Q:
        of_source = Q(source=self.source)
        return of_source & Q(**{f"score__{_LOOKUPS[self.operator]}": self.score}) if self.operator else of_source


def parse_merge(text: str) -> list[MergeTerm]:
    """Parse comma-separated terms: a source's name, or a name, one of ``>= > <= < =`` and a score.

    Empty text gives no terms. Raises CounterpartError for an invalid term or a source named twice.
    """
    terms = [_parse_term(part.strip()) for part in text.split(",") if part.strip()]
    names = [term.source for term in terms]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise CounterpartError(
            f"{counted(len(twice), 'match source is', 'match sources are')} named twice: {some_of(twice)}. Name each "
            "once."
        )
    return terms


def check_sources(collection: Collection, terms: Sequence[MergeTerm]) -> None:
    """Raise CounterpartError for a term whose source is not in the collection; the error lists the sources it has."""
    known = sources_of(collection)
    unknown = [term.source for term in terms if term.source not in known]
    if unknown:
        has = f"it has {some_of(known, at_most=20)}" if known else "it has none"
        are = counted(len(unknown), "match source is", "match sources are")
        raise CounterpartError(f"{are} not in {collection}: {some_of(unknown)}; {has}.")


def refuse_foreign(collection: Collection, rounds: Sequence[Round]) -> None:
    """Raise CounterpartError for rounds of other collections."""
    if foreign := [round.name for round in rounds if round.pool.collection_id != collection.pk]:
        are = counted(len(foreign), "round is", "rounds are")
        raise CounterpartError(f"{are} not on {collection}: {some_of(foreign)}. Leave them out.")


def merged_pairs(collection: Collection, term: MergeTerm, *, positive_levels: Sequence[int]) -> set[Pair]:
    """Return the source's pairs in the gallery that meet the term's condition; of graded pairs, those at
    ``positive_levels``. No ranking may list what is outside the gallery."""
    matching = Q(grade__isnull=True) | Q(grade__in=positive_levels)
    training = Q(image__split__in=Image.TRAINING_SPLITS) | Q(caption__image__split__in=Image.TRAINING_SPLITS)
    rows: Any = Match.objects.filter(term.condition, matching, collection=collection).exclude(training)
    return set(rows.values_list("image__key", "caption__key"))


def _parse_term(text: str) -> MergeTerm:
    found = _TERM.fullmatch(text)
    if not found:
        raise CounterpartError(f"Invalid match source {text!r}: write a name as in original, or cxc>=3.")
    score = found["score"]
    return MergeTerm(found["source"], found["operator"] or "", None if score is None else float(score))
