"""Positives: how many matches the queries of a version have, by source (ECCV Caption, figure 3a)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from core.parameters import POSITIONAL, Parameters
from core.progress import Progress
from corpus.matches import known_pairs
from corpus.models import Match
from counterpart_statistics.judged import MATCH
from dataset.models import Version
from dataset.versions.version_files import query_ids
from evaluation.analyses import Findings, cells, text_table
from mitl.charts.drawing import Chart
from mitl.charts.lines import line_chart
from mitl.models import Direction

HELP = "How many positives the queries of a version have, in it and in other sources (figure 3a)."
QUERY_COLUMN = {Direction.IMAGE_TO_CAPTION: 0, Direction.CAPTION_TO_IMAGE: 1}  # of pairs (image, caption)
SHOWN = 12  # numbers of positives on the terminal


@dataclass(frozen=True, kw_only=True)
class PositivesParameters(Parameters):
    version: Annotated[str, "the version whose queries are counted", POSITIONAL]
    sources: Annotated[tuple[str, ...], "sources to compare it with; their levels 1 and 2 count"] = (Match.ORIGINAL,)


def analyse(parameters: PositivesParameters, *, progress: Progress) -> Findings:
    """Count the positives of each query. Raises CounterpartError for an unknown version or source."""
    found = Version.objects.named(parameters.version)
    progress("counting positives", 0, None)
    rows = list(_rows(found, [*dict.fromkeys(parameters.sources), found.name]))
    return Findings({"version": found.name, "positives": rows}, _text(rows), _chart(found, rows), rows)


def _rows(version: Version, sources: list[str]) -> Iterator[dict[str, Any]]:
    """Yield how many queries have exactly, and at least, each number of positives up to the largest of a direction."""
    pairs = {source: known_pairs(version.collection, source, max_grade=max(MATCH)) for source in sources}
    for direction, ids in query_ids(version).items():
        if not len(ids):
            continue
        asked = {source: found[:, QUERY_COLUMN[direction]] for source, found in pairs.items()}
        counts = {
            source: np.bincount(np.searchsorted(ids, found[np.isin(found, ids)]), minlength=len(ids))
            for source, found in asked.items()
        }
        most = max((int(found.max(initial=0)) for found in counts.values()), default=0)
        for source, found in counts.items():
            for positives in range(most + 1):
                at_least = int((found >= positives).sum())
                yield {
                    "direction": direction.value,
                    "source": source,
                    "positives": positives,
                    "queries": int((found == positives).sum()),
                    "at_least": at_least,
                    "share_at_least": at_least / len(ids),
                }


def _text(rows: list[dict[str, Any]]) -> str:
    parts = []
    for direction in Direction:
        for source in dict.fromkeys(row["source"] for row in rows if row["direction"] == direction.value):
            theirs = [row for row in rows if (row["direction"], row["source"]) == (direction.value, source)]
            forms = {"positives": ",", "queries": ",", "at_least": ",", "share_at_least": ".1%"}
            lines = [cells(row, **forms) for row in theirs[:SHOWN]]
            more = f"\n... up to {theirs[-1]['positives']:,}; --json and --csv list all." if theirs[SHOWN:] else ""
            table = text_table(["positives", "queries", "at least", "of all"], lines, left=0)
            parts.append(f"{direction.label}: {source}\n{table}{more}")
    return "\n\n".join(parts)


def _chart(version: Version, rows: list[dict[str, Any]]) -> Chart:
    return line_chart(
        f"Positives per query in version {version}",
        "Percent of the queries with at least this many positives, as in ECCV Caption, figure 3a.",
        {
            direction.label: [
                {"line": row["source"], "x": row["positives"], "y": 100 * row["share_at_least"]}
                for row in rows
                if row["direction"] == direction.value
            ]
            for direction in Direction
        },
        x="positives",
        y="percent of queries",
    )
