"""How good the proposals of annotators are: by rank and level, what each alone found, and coverage of sources. Pure."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import pandas as pd

from counterpart_metrics import coverage
from counterpart_statistics.aggregation import LEVELS
from counterpart_statistics.judged import MATCH, PAIR

ALL = "all"


def levels_by_rank(proposed: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the shares of the levels among an annotator's judged proposals, by direction and rank (table B.2)."""
    for annotator, theirs in proposed.groupby("annotator", sort=True):
        directions = {ALL: theirs, **dict(list(theirs.groupby("direction", sort=True)))}
        for direction, of_direction in directions.items():
            ranks = {**dict(list(of_direction.groupby("rank", sort=True))), ALL: of_direction}
            for rank, rows in ranks.items():
                levels = rows["level"]
                yield {
                    "name": annotator,
                    "direction": direction,
                    "rank": rank,
                    "proposals": len(rows),
                    **{f"share_{level}": float((levels == level).mean()) for level in LEVELS},
                    "matches": float(levels.isin(MATCH).mean()),
                }


def found_alone(proposed: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield how many judged pairs and matches each annotator proposed, and how many of them no other did."""
    pairs = proposed[[*PAIR, "annotator", "level"]].drop_duplicates()
    finders = pairs.groupby(PAIR)["annotator"].transform("size")
    is_match = pairs["level"].isin(MATCH)
    n_matches = int(pairs.loc[is_match, PAIR].drop_duplicates().shape[0])
    for annotator, theirs in pairs.groupby("annotator", sort=True):
        matches = is_match[theirs.index]
        only = matches & (finders[theirs.index] == 1)
        yield {
            "name": annotator,
            "pairs": len(theirs),
            "found": int(matches.sum()),
            "found_share": int(matches.sum()) / n_matches if n_matches else float("nan"),
            "unique": int(only.sum()),
            "unique_share": int(only.sum()) / n_matches if n_matches else float("nan"),
        }


def source_coverage(
    verdicts: pd.DataFrame,
    queries: Mapping[str, Collection[int]],
    *,
    sources: Mapping[str, pd.DataFrame],
    proposals: pd.DataFrame,
) -> Iterator[dict[str, Any]]:
    """Yield precision and recall of every annotator and source of pairs against the verified pairs (tables 2 and 3), in
    each direction that has any. ``queries``: those that count, by direction."""
    verified = verdicts.loc[verdicts["level"].isin(MATCH), PAIR]
    annotators = dict(list(proposals.groupby("annotator", sort=True)))
    for direction, asking in queries.items():
        truth, known = (_by_query(pairs, direction, asking) for pairs in (verified, verdicts[PAIR]))
        if not any(truth.values()):
            continue
        listed = {name: _by_query(pairs, direction, asking) for name, pairs in sources.items()}
        proposed = {
            name: _by_query(theirs.loc[theirs["direction"] == str(direction), PAIR], direction, asking)
            for name, theirs in annotators.items()
        }
        for kind, pairs_by_name in (("source", listed), ("annotator", proposed)):
            for name, pairs in pairs_by_name.items():
                both = coverage(pairs, truth), coverage(pairs, truth, judged=known)
                yield {
                    "kind": kind,
                    "name": name,
                    "direction": str(direction),
                    "positives": sum(map(len, pairs.values())),
                    "verified": sum(map(len, truth.values())),
                    "precision": both[0].precision,
                    "precision_judged": both[1].precision,
                    "recall": both[0].recall,
                }


def _by_query(pairs: pd.DataFrame, direction: str, queries: Collection[int]) -> dict[int, set[int]]:
    """Return query → items, of pairs whose query is one of ``queries``."""
    query, item = PAIR if direction == "i2t" else PAIR[::-1]
    groups: Any = pairs[pairs[query].isin(queries)].groupby(query)[item]
    return {int(name): set(items) for name, items in groups}
