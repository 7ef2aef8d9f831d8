"""How good each annotator's proposals are, by rank and level, and precision and recall of every source."""

from collections.abc import Iterator, Sequence
from typing import Any

from core.errors import CounterpartError
from core.progress import Progress
from counterpart_statistics.judged import PAIR
from counterpart_statistics.judged.proposal_shares import ALL, found_alone, levels_by_rank, source_coverage
from evaluation.analyses import Findings, cells, plain, text_table
from evaluation.answered import Answered, AnswersParameters, read_answers
from evaluation.compared_sources import SourcesParameters, coverage_text
from hits.question import Level
from mitl.charts.bars import LEVEL_COLOURS, bar_chart
from mitl.charts.drawing import Chart


class AnnotatorsParameters(AnswersParameters, SourcesParameters):
    """Parameters of the analysis: judged rounds, and match sources to compare with their verdicts."""


def analyse(parameters: AnnotatorsParameters, *, progress: Progress) -> Findings:
    """Measure the proposals. Raises CounterpartError as ``read_answers`` and for unusable sources."""
    found = read_answers(parameters, progress=progress)
    sources = parameters.stored(found.collection) | parameters.plausible(found.collection, found.queries)
    progress("reading proposals", 0, None)
    levels = found.conclusions
    proposed = found.proposals.merge(levels, on=PAIR)
    if proposed.empty:
        raise CounterpartError(f"{found.name} has no proposals that were judged: its pool is empty.")
    ranks = list(levels_by_rank(proposed))
    alone = list(found_alone(proposed))
    progress("comparing sources", 0, None)
    queries = {direction.value: ids for direction, ids in found.queries.items()}
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
    parts.append(coverage_text(covered))
    return "\n\n".join(parts)


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
