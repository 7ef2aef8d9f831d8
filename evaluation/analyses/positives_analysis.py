"""How many positives queries of a version have, and what other sources have of them (table 2, figure 3a)."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from core.parameters import POSITIONAL, Option
from core.progress import Progress
from corpus.models import Match
from counterpart_statistics.judged import PAIR
from counterpart_statistics.judged.proposal_shares import source_coverage
from dataset.models import Version
from dataset.versions.merging import MergeTerm
from dataset.versions.version_files import query_ids
from evaluation.analyses import Findings, cells, plain, text_table
from evaluation.compared_sources import Pairs, SourcesParameters, coverage_text, matches_of
from hits.question import Level
from mitl.charts.drawing import Chart
from mitl.charts.lines import line_chart
from mitl.models import Direction

NO_PROPOSALS = pd.DataFrame(columns=[*PAIR, "annotator", "direction"])
SHOWN = 12  # numbers of positives on the terminal


class PositivesParameters(SourcesParameters):
    version: Annotated[str, "the version whose queries are counted", POSITIONAL]
    sources: Annotated[str, "match sources to compare it with, as in original,cxc>=3", Option(metavar="S,S")] = (
        Match.ORIGINAL
    )


def analyse(parameters: PositivesParameters, *, progress: Progress) -> Findings:
    """Count the positives of each query. Raises CounterpartError for an unknown version and unusable sources."""
    found = Version.objects.named(parameters.version)
    queries = query_ids(found)
    progress("counting positives", 0, None)
    stored = parameters.stored(found.collection)
    rows = list(_rows(stored | {found.name: matches_of(found.collection, MergeTerm(found.name))}, queries))
    progress("comparing sources", 0, None)
    released: Any = Match.objects.filter(collection=found.collection, source=found.name)
    known = pd.DataFrame(released.values_list("image_id", "caption_id", "score"), columns=[*PAIR, "level"])
    known["level"] = np.where(known["level"] > 0, Level.YES, Level.NO)
    asking = {direction.value: ids.tolist() for direction, ids in queries.items()}
    sources = stored | parameters.plausible(found.collection, queries)
    covered = list(source_coverage(known, asking, sources=sources, proposals=NO_PROPOSALS))
    figures = {"version": found.name, "positives": rows, "coverage": plain(covered)}
    return Findings(figures, f"{_text(rows)}\n\n{coverage_text(covered)}", _chart(found, rows), rows)


def _rows(pairs: Pairs, queries: Mapping[Direction, NDArray[np.int64]]) -> Iterator[dict[str, Any]]:
    """Yield how many queries have exactly, and at least, each number of positives up to the largest of a direction."""
    for direction, ids in queries.items():
        if not len(ids):
            continue
        asked = {source: found[PAIR[direction != "i2t"]].to_numpy() for source, found in pairs.items()}
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
