"""How good the proposals of annotators are: by rank and level, what each alone found, and coverage of sources. Pure."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

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
        truth, known = (_codes(pairs, direction, asking) for pairs in (verified, verdicts[PAIR]))
        if not len(truth):
            continue
        proposed = {name: theirs[theirs["direction"] == str(direction)] for name, theirs in annotators.items()}
        for kind, pairs_by_name in (("source", sources), ("annotator", proposed)):
            for name, pairs in pairs_by_name.items():
                codes = _codes(pairs, direction, asking)
                yield {
                    "kind": kind,
                    "name": name,
                    "direction": str(direction),
                    "positives": len(codes),
                    "verified": len(truth),
                    "precision": _mean_share(codes, truth),
                    "precision_judged": _mean_share(codes[pd.Series(codes).isin(known)], truth),
                    "recall": _mean_share(truth, codes),
                }


def _codes(pairs: pd.DataFrame, direction: str, queries: Collection[int]) -> NDArray[np.int64]:
    """Return one number a distinct pair whose query is one of ``queries``, the query in its upper half."""
    query, item = PAIR if direction == "i2t" else PAIR[::-1]
    asked = pairs.loc[pairs[query].isin(queries), PAIR].astype(np.int64)
    return pd.unique((asked[query].to_numpy() << 32) + asked[item].to_numpy())


def _mean_share(codes: NDArray[np.int64], others: NDArray[np.int64]) -> float:
    """Return the mean over queries of the share of their pairs that are among others; NaN without pairs. The sums of
    ``counterpart_metrics.coverage`` on arrays, as plausible matches are millions."""
    return float(pd.Series(codes).isin(others).groupby(codes >> 32).mean().mean())
