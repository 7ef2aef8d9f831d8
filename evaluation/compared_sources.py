"""Sources of matches that are compared with verified ones: those of a collection, and plausible matches, which follow
from the categories of objects in its images (Chun et al. 2021) and are never stored."""

from collections.abc import Collection as Some
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import pandas as pd
from django.db.models import Q

from core.errors import CounterpartError, some_of
from core.parameters import Option
from corpus.models import Collection, Match
from counterpart_statistics.judged import MATCH, PAIR
from counterpart_statistics.judged.plausible_sources import plausible_sources
from dataset.versions.merging import MergeTerm, check_sources, parse_merge
from evaluation.analyses import cells, text_table
from evaluation.scores.benchmark_scores import read_categories
from evaluation.scores.evaluate_parameters import PlausibleParameters
from mitl.models import Direction

Pairs = dict[str, pd.DataFrame]
"""Source → its matches: database ids ``image`` and ``caption``."""


class SourcesParameters(PlausibleParameters):
    sources: Annotated[
        str,
        'match sources to measure, as in "original,cxc>=3" (default: all without scores but released versions)',
        Option(metavar="S,S"),
    ] = ""

    def stored(self, collection: Collection) -> Pairs:
        """Return the matches of the named sources. Raises CounterpartError for an unknown one."""
        terms = parse_merge(self.sources) or _unscored(collection)
        check_sources(collection, terms)
        return {str(term): matches_of(collection, term) for term in terms}

    def plausible(self, collection: Collection, queries: Mapping[Direction, Some[int]]) -> Pairs:
        """Return the plausible matches of the queries, a source for each ζ; none without a file of categories.

        Raises CounterpartError for a file that cannot be read, and for images without categories.
        """
        if self.categories is None:
            return {}
        listed = {str(image): names for image, names in read_categories(self.categories).items()}
        images = dict(collection.images.gallery().values_list("pk", "key"))
        if missing := [key for key in images.values() if key not in listed]:
            raise CounterpartError(
                f"{len(missing):,} images of {collection} have no categories in {self.categories.name}: "
                f"{some_of(missing)}. Add them; an image without objects has an empty list."
            )
        shown = {image: listed[key] for image, key in images.items()}
        owners = dict(collection.captions.gallery().values_list("pk", "image_id"))
        return plausible_sources(shown, owners, {str(way): asked for way, asked in queries.items()}, self.zeta)


def matches_of(collection: Collection, term: MergeTerm) -> pd.DataFrame:
    """Return the positives of a source; of a source with grades or scores of 0 and 1 those that say so."""
    matching = Q(grade__isnull=True) | Q(grade__in=MATCH)
    rows = Match.objects.filter(term.condition, matching, collection=collection)
    if not term.operator:
        rows = rows.exclude(score=0)
    pairs: Any = rows.values_list("image_id", "caption_id")
    return pd.DataFrame(list(pairs.iterator(chunk_size=20_000)), columns=PAIR)


def coverage_text(covered: Sequence[Mapping[str, Any]]) -> str:
    """Return what ``source_coverage`` yields as a table."""
    lines = [
        [
            Direction(row["direction"]).label,
            f"{row['kind']} {row['name']}",
            *cells(row, positives=",", precision_judged=".1%", precision=".1%", recall=".1%"),
        ]
        for row in covered
    ]
    heads = ["direction", "positives of", "pairs", "precision (judged)", "precision (unjudged: wrong)", "recall"]
    return f"Precision and recall against the verified matches, means over queries\n{text_table(heads, lines, left=2)}"


def _unscored(collection: Collection) -> list[MergeTerm]:
    rows = Match.objects.filter(collection=collection)
    scored = rows.filter(score__isnull=False).exclude(score__in=(0, 1)).values("source")
    released = collection.sealed_sources  # made of these judgments
    names = rows.exclude(source__in=scored).exclude(source__in=released).order_by("source")
    return [MergeTerm(name) for name in names.values_list("source", flat=True).distinct()]
