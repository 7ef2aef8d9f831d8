"""People's mean scores of pairs against overlaps of words, and of the first captions of annotators. Pure.

A pair's score is the mean of its judgments, 4 for the first level and 1 for the last, as of the experts of Hodosh et
al. (2013). ``overlap`` tables have an ``image``, a ``caption`` and an ``overlap`` from 0 to 1, such as BLEU-1.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from counterpart_statistics.aggregation import LEVELS
from counterpart_statistics.agreement import kappa_interval
from counterpart_statistics.correlation import tau_b
from counterpart_statistics.judged import PAIR
from counterpart_statistics.judged.agreement_rows import UNKNOWN, Bootstrap, agreement_row
from counterpart_statistics.significance import compared_means, cumulative_shares
from counterpart_statistics.threshold_agreement import SLACK, best_kappas

THIRDS = (4, 11 / 3, 10 / 3, 3, 8 / 3, 7 / 3, 2)  # means of three judgments: the thresholds of tables 1 and 8 to 10
TENTHS = np.arange(1, 11) / 10


def mean_scores(votes: pd.DataFrame) -> pd.DataFrame:
    """Return the mean ``score`` of each judged pair."""
    scored: Any = votes.assign(score=len(LEVELS) + 1 - votes["level"])
    return scored.groupby(PAIR, as_index=False)["score"].mean()


def with_overlap(
    votes: pd.DataFrame, name: str, overlap: pd.DataFrame, bootstrap: Bootstrap
) -> Iterator[dict[str, Any]]:
    """Yield kappa of "mean score at least a level" with "overlap at least a tenth", for each level by the best tenth
    (tables 8 and 9), and tau-b."""
    both = mean_scores(votes).merge(overlap, on=PAIR).dropna()
    sizes = {"pairs": len(both), "judgments": len(votes.merge(both[PAIR], on=PAIR))}
    if both.empty:
        return
    people, found = both["score"].to_numpy(), both["overlap"].to_numpy()
    reason = "the overlap, or people, give every pair the same answer"
    for level, (tenth, value) in zip(THIRDS, best_kappas(found, people, TENTHS, THIRDS), strict=True):
        interval = kappa_interval(people >= level - SLACK, found >= tenth - SLACK, **vars(bootstrap))
        measure = "kappa" if np.isnan(tenth) else f"kappa, overlap ≥ {tenth:.1f}"
        yield agreement_row(name, "mean score", f"score ≥ {level:.2f}", measure, value, interval, sizes, reason)
    reason = "the scores or the overlaps are all equal"
    yield agreement_row(name, "mean score", "score", "tau-b", tau_b(people, found), UNKNOWN, sizes, reason)


def first_results(
    votes: pd.DataFrame,
    proposals: pd.DataFrame,
    against: str,
    overlaps: Mapping[str, pd.DataFrame],
    bootstrap: Bootstrap,
) -> Iterator[dict[str, Any]]:
    """Yield how people scored the caption that each annotator put first for an image.

    Each figure is followed by the p-value of its difference to the annotator ``against``, over the images whose first
    captions by both were judged: the share of scores at least each level by McNemar's test (table 1), and the mean
    score and mean overlaps by Fisher's randomisation (table 2). Nothing without a judged first caption of ``against``.
    """
    firsts = proposals[(proposals["rank"] == 1) & (proposals["direction"] == "i2t")]
    judged = firsts[[*PAIR, "annotator"]].merge(mean_scores(votes), on=PAIR)
    for name, overlap in overlaps.items():
        judged = judged.merge(overlap.rename(columns={"overlap": name}), on=PAIR, how="left")
    tables = {name: judged.pivot(index="annotator", columns="image", values=name) for name in ("score", *overlaps)}
    names = list(tables["score"].index)
    if against not in names:
        return
    place = names.index(against)
    shares = cumulative_shares(tables["score"], THIRDS, against=place)
    tests: dict[str, tuple[str, str, Any, Any]] = {
        f"score ≥ {level:.2f}": ("share", "McNemar's p", shares.figures[:, t], shares.pvalues[:, t])
        for t, level in enumerate(THIRDS)
    }
    for name, table in tables.items():
        means = compared_means(table, against=place, samples=10 * bootstrap.samples, seed=bootstrap.seed)
        tests[name] = ("mean", "Fisher's p", *means)
    counts = tables["score"].notna().sum(axis=1).tolist()
    for row, name in enumerate(names):
        sizes = {"pairs": counts[row], "judgments": len(votes.merge(firsts.loc[firsts["annotator"] == name, PAIR]))}
        for scale, (kind, test, figures, pvalues) in tests.items():
            for measure, value in ((kind, figures[row]), (test, pvalues[row])):
                said = f"first captions, against {against}"
                yield agreement_row(said, name, scale, measure, float(value), UNKNOWN, sizes)
