"""What each worker did and how well, and the same by the number of HITs done (ECCV Caption, table B.1). Pure."""

import numpy as np
import pandas as pd

from counterpart_statistics.aggregation import Method, conclude, full_conclusion
from counterpart_statistics.judged import PAIR
from counterpart_statistics.judged.control_votes import right_of

BUCKETS = {"1": (1, 1), "2-5": (2, 5), "6-10": (6, 10), "11-15": (11, 15), "16-25": (16, 25), ">25": (26, np.inf)}


def worker_table(
    answers: pd.DataFrame,
    answer_sets: pd.DataFrame,
    *,
    method: Method = "dawid-skene",
    proposals: pd.DataFrame | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Return a row per worker with a submitted answer set. Controls are those of all submitted sets; ``agreement`` is
    with the majority's level, of pairs with two judgments or more that count; times are of accepted sets.
    ``reliability`` is by ``method``, which may need the ``proposals``."""
    sets = answer_sets.groupby("worker")
    timed = _timed(answer_sets).groupby("worker")[["seconds", "pairs"]].sum()
    controls = right_of(answers).groupby(answers["worker"])
    counted = answers.loc[answers["counted"], [*PAIR, "control", "worker", "level"]]
    described = full_conclusion(counted, method=method, proposals=proposals, seed=seed).workers
    votes = counted[counted["control"] == ""]
    shared = votes[votes.duplicated(PAIR, keep=False)].merge(conclude(votes)[[*PAIR, "level"]], on=PAIR)
    agrees = (shared["level_x"] == shared["level_y"]).groupby(shared["worker"]).mean()
    table = pd.DataFrame(
        {
            "hits": sets.size(),
            "accepted": sets["accepted"].sum(),
            "excluded": sets["excluded"].sum(),
            "rejected": sets["rejected"].sum(min_count=1),
        }
    )
    return (
        table.assign(
            accepted_share=table["accepted"] / table["hits"],
            rejected_share=table["rejected"] / table["hits"],
            controls=controls.count(),
            controls_right=controls.mean(),
            judgments=described["votes"],
            agreement=agrees,
            reliability=described["reliability"],
            seconds_per_pair=timed["seconds"] / timed["pairs"],
        )
        .rename_axis("worker")
        .reset_index()
        .fillna({"judgments": 0, "controls": 0})
        .astype({"judgments": int, "controls": int})
    )


def table_by_hits(table: pd.DataFrame, answer_sets: pd.DataFrame) -> pd.DataFrame:
    """Return the workers of a ``worker_table`` by their number of submitted HITs, and all of them (table B.1)."""
    rows = []
    for name, (least, most) in {**BUCKETS, "all": (1, np.inf)}.items():
        of_bucket = table[table["hits"].between(least, most)]
        sets = answer_sets[answer_sets["worker"].isin(of_bucket["worker"])]
        timed = _timed(sets)
        submitted = len(sets)
        controls = of_bucket["controls"].sum()
        right = of_bucket["controls_right"] * of_bucket["controls"]
        rows.append(
            {
                "hits_per_worker": name,
                "workers": len(of_bucket),
                "submitted": submitted,
                "accepted": int(sets["accepted"].sum()),
                "excluded": int(sets["excluded"].sum()),
                "rejected": float(sets["rejected"].sum(min_count=1)),
                "accepted_share": sets["accepted"].mean() if submitted else np.nan,
                "rejected_share": sets["rejected"].mean(),
                "controls_right": right.sum() / controls if controls else np.nan,
                "seconds_per_pair": timed["seconds"].sum() / timed["pairs"].sum() if len(timed) else np.nan,
            }
        )
    return pd.DataFrame(rows)


def _timed(sets: pd.DataFrame) -> pd.DataFrame:
    """Return the sets whose time counts: what is not accepted may have taken whatever its worker says."""
    return sets[sets["seconds"].notna() & sets["accepted"]]
