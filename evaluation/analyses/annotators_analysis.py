"""Annotators: how good their proposals are by rank and level, what each alone found, and every source's coverage."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import pandas as pd
from django.db.models import Q

from core.errors import CounterpartError
from core.parameters import Option
from core.progress import Progress
from corpus.models import Match
from counterpart_statistics.judged import MATCH, PAIR
from counterpart_statistics.judged.proposal_shares import ALL, found_alone, levels_by_rank, source_coverage
from dataset.versions.merging import MergeTerm, check_sources, parse_merge
from evaluation.analyses import Findings, cells, plain, text_table
from evaluation.answered import Answered, AnswersParameters, read_answers
from hits.question import Level
from mitl.charts.bars import LEVEL_COLOURS, bar_chart
from mitl.charts.drawing import Chart
from mitl.models import Direction

HELP = "How good each annotator's proposals are, by rank and level, and precision and recall of every source."


@dataclass(frozen=True, kw_only=True)
class AnnotatorsParameters(AnswersParameters):
    sources: Annotated[
        str,
        'match sources to measure, as in "original,cxc>=3" (default: all without scores but released versions)',
        Option(metavar="S,S"),
    ] = ""


def analyse(parameters: AnnotatorsParameters, *, progress: Progress) -> Findings:
    """Measure the proposals. Raises CounterpartError as ``read_answers``, and for unknown sources."""
    found = read_answers(parameters, progress=progress)
    terms = _terms(found, parameters.sources)
    progress("reading proposals", 0, None)
    levels = found.conclusions
    proposed = found.proposals.merge(levels, on=PAIR)
    if proposed.empty:
        raise CounterpartError(f"{found.name} has no proposals that were judged: its pool is empty.")
    ranks = list(levels_by_rank(proposed))
    alone = list(found_alone(proposed))
    progress("comparing sources", 0, None)
    queries = {direction.value: ids for direction, ids in found.queries.items()}
    sources = {str(term): _pairs_of(found, term) for term in terms}
    covered = list(source_coverage(levels, queries, sources=sources, proposals=found.proposals))
    figures = {"of": found.name, "pairs": len(levels), "by_rank": ranks, "unique": alone, "coverage": covered}
    rows = [*_long(ranks, "proposals"), *_long(alone, "pairs"), *_long(covered, "positives")]
    return Findings(plain(figures), _text(found, len(levels), ranks, alone, covered), _chart(found, ranks), rows)


def _long(table: Sequence[dict[str, Any]], size: str) -> Iterator[dict[str, Any]]:
    """Yield a row per figure; ``of`` is the number of pairs that it is about."""
    names = {"kind": "annotator", "name": "", "direction": ALL, "rank": ALL}
    for row in table:
        for figure in [figure for figure in row if figure not in (*names, size)]:
            about = {name: row.get(name, default) for name, default in names.items()}
            yield {**about, "figure": figure, "value": row[figure], "of": row[size]}


def _terms(found: Answered, sources: str) -> list[MergeTerm]:
    if sources:
        terms = parse_merge(sources)
        check_sources(found.collection, terms)
        return terms
    rows = Match.objects.filter(collection=found.collection)
    scored = rows.filter(score__isnull=False).exclude(score__in=(0, 1)).values("source")
    released = found.collection.sealed_sources  # made of these judgments
    names = (
        rows.exclude(source__in=scored)
        .exclude(source__in=released)
        .order_by("source")
        .values_list("source", flat=True)
        .distinct()
    )
    return [MergeTerm(name) for name in names]


def _pairs_of(found: Answered, term: MergeTerm) -> pd.DataFrame:
    """Return the positives of a source; of a source with grades or scores of 0 and 1 those that say so."""
    matching = Q(grade__isnull=True) | Q(grade__in=MATCH)
    rows = Match.objects.filter(term.condition, matching, collection=found.collection)
    if not term.operator:
        rows = rows.exclude(score=0)
    pairs: Any = rows.values_list("image_id", "caption_id")
    return pd.DataFrame(list(pairs.iterator(chunk_size=20_000)), columns=PAIR)


def _text(
    found: Answered,
    n: int,
    ranks: Sequence[dict[str, Any]],
    alone: Sequence[dict[str, Any]],
    covered: Sequence[dict[str, Any]],
) -> str:
    parts = [f"{found.note}\nVerdicts on {n:,} pairs."]
    heads = ["rank", "proposals", *Level.labels, "matches"]
    for annotator in dict.fromkeys(row["name"] for row in ranks):
        lines = [
            [
                str(row["rank"]),
                f"{row['proposals']:,}",
                *(f"{100 * row[f'share_{level}']:.1f}" for level in Level.values),
                f"{100 * row['matches']:.1f}",
            ]
            for row in ranks
            if row["name"] == annotator and row["direction"] == ALL
        ]
        parts.append(f"{annotator}: levels of its judged proposals, in percent\n{text_table(heads, lines)}")
    forms = {"name": "", "pairs": ",", "found": ",", "found_share": ".1%", "unique": ",", "unique_share": ".1%"}
    heads = ["annotator", "judged pairs", "matches", "of all matches", "found by it alone", "alone, of all matches"]
    parts.append(text_table(heads, [cells(row, **forms) for row in alone]))
    parts.append(_coverage_text(covered))
    return "\n\n".join(parts)


def _coverage_text(covered: Sequence[dict[str, Any]]) -> str:
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


def _chart(found: Answered, ranks: Sequence[dict[str, Any]]) -> Chart:
    panels: dict[str, list[dict[str, Any]]] = {}
    for row in ranks:
        if row["direction"] == ALL:
            name = f"rank {row['rank']}" if row["rank"] != ALL else "all ranks"
            panels.setdefault(row["name"], []).extend(
                {"name": name, "part": level.label, "value": 100 * row[f"share_{level.value}"]} for level in Level
            )
    return bar_chart(
        f"Levels of the annotators' proposals, {found.name[0].lower()}{found.name[1:]}",
        "Answered proposals of both directions, as in ECCV Caption, table B.2.",
        panels,
        x="percent",
        parts={level.label: LEVEL_COLOURS[level.value] for level in Level},
    )
