"""ECCV Caption's appendix from the counts that it prints: tables B.1, D.1 to D.3 and E.1, figure E.3."""

from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.papers.book import Made, markdown, numbers
from benchmarks.papers.eccv_printed import averages, printed
from benchmarks.papers.eccv_public import measured
from counterpart_statistics.bias import model_bias
from counterpart_statistics.judged.worker_table import BUCKETS, table_by_hits
from counterpart_statistics.preference import bradley_terry

TABLE_B1 = {  # HITs a worker → workers, submitted, approved HITs, share in percent
    "1": (599, 599, 459, 76.6),
    "2-5": (254, 681, 535, 78.6),
    "6-10": (61, 475, 374, 78.7),
    "11-15": (23, 297, 216, 72.7),
    "16-25": (21, 411, 285, 69.3),
    ">25": (12, 506, 293, 57.9),
}
TABLE_D1 = (
    (0, 231, 66, 111, 316),
    (89, 0, 21, 79, 328),
    (254, 299, 0, 273, 343),
    (185, 217, 23, 0, 287),
    (28, 16, 1, 9, 24),
)
ROWS_D1 = "BDACE"  # what the rows printed A to E are
MACHINES = ("PVSE", "VSRN", "PCME", "ViLT", "CLIP")
TABLE_E1 = {  # rows: scored machine; columns: whose proposals are judged, the last All
    "Recall@1": (
        (76.5, 63.6, 67.6, 45.3, 42.0, 76.6),
        (68.0, 80.1, 69.0, 51.1, 47.2, 80.1),
        (67.7, 64.3, 77.3, 46.0, 44.1, 77.4),
        (59.5, 59.8, 58.8, 62.0, 49.3, 72.4),
        (51.7, 51.5, 52.6, 42.8, 49.3, 64.3),
    ),
    "R-Precision": (
        (53.5, 39.4, 42.1, 30.1, 31.3, 42.1),
        (41.8, 55.9, 41.6, 33.8, 35.9, 43.2),
        (42.9, 39.9, 54.8, 31.8, 33.8, 43.1),
        (34.0, 34.5, 33.9, 45.5, 37.0, 35.8),
        (31.0, 31.5, 31.9, 29.6, 39.6, 32.1),
    ),
}
CITED = {"PVSE": "PVSE K=2", "VSRN": "VSRN", "PCME": "PCME (CutMix)", "ViLT": "ViLT", "CLIP": "CLIP ViT-B/32"}


def table_b1(data: Path) -> Made:
    sets = _answer_sets()
    workers = sets.groupby("worker", as_index=False).agg(hits=("accepted", "size"))
    *rows, total = table_by_hits(workers.assign(controls=0, controls_right=0.0), sets).to_dict("records")
    shares = [
        (row["hits_per_worker"], TABLE_B1[row["hits_per_worker"]][3], 100 * row["accepted_share"]) for row in rows
    ]
    equal = sum(round(ours, 1) == paper for _, paper, ours in shares)
    submitted, accepted, people = total["submitted"], total["accepted"], total["workers"]
    return Made(
        f"{numbers(ours for *_, ours in shares)}%, {equal} of 6 equal; {people} workers, {submitted:,} HITs, "
        f"{submitted / people:.2f} each; {accepted:,} approved (text: 2,160), {submitted - accepted} rejected, "
        f"{1 - accepted / submitted:.1%} of all, {(submitted - accepted) / accepted:.1%} of the approved (text: 37.3%)"
    )


def _answer_sets() -> pd.DataFrame:
    """Return answer sets with the counts of table B.1; a bucket's HITs are shared out evenly among its workers."""
    parts = []
    for name, (workers, submitted, approved, _) in TABLE_B1.items():
        done = np.full(workers, BUCKETS[name][0])
        left = submitted - done.sum()
        most = BUCKETS[name][1] - BUCKETS[name][0]
        more = np.full(workers, left // workers)
        more[: left - more.sum()] += 1
        if more.max() > most:
            raise ValueError(f"{name}: {submitted} HITs are too many for {workers} workers.")
        worker = np.repeat([f"{name} {number}" for number in range(workers)], done + more)
        accepted = np.arange(submitted) < approved
        parts.append(pd.DataFrame({"worker": worker, "accepted": accepted, "rejected": (~accepted).astype(float)}))
    return pd.concat(parts, ignore_index=True).assign(excluded=False, seconds=np.nan, pairs=0)


def table_d1(data: Path) -> Made:
    strengths = dict(zip(ROWS_D1, bradley_terry(TABLE_D1).tolist(), strict=True))
    asked = sum(map(sum, TABLE_D1)) - TABLE_D1[4][4]
    return Made(
        f"{', '.join(f'{name} {strengths[name]:.2f}' for name in 'ABCDE')}, from {asked:,} preferences; the rows "
        f"printed A to E are {', '.join(ROWS_D1)}"
    )


def table_d2(data: Path) -> Made:
    whole, means = printed("4"), averages()
    apart = {
        metric: max(abs(scores[metric] - means[model][metric]) for model, scores in whole.items())
        for metric in next(iter(whole.values()))
    }
    agreeing = [metric for metric, most in apart.items() if most < 0.0051]
    return Made(
        f"the means of D.2 and D.3 are table 4's in {', '.join(agreeing)} (its 1K column mixes 1K and 5K), and make "
        "table 5"
    )


def table_e1(data: Path) -> Made:
    rows: list[list[object]] = []
    for metric, table in TABLE_E1.items():
        scores = np.array(table)
        own = np.abs(np.diag(scores[:, :5]) - scores[:, 5])
        biases = np.array([model_bias(scores[:, place], scores[:, 5]) for place in range(5)])
        for name, values in (("B", biases), ("self", own), ("others", (5 * biases - own) / 4)):
            rows.append([metric, name, *(f"{value:.2f}" for value in (*values, values.mean()))])
    bias, own_bias, others = (float(row[2]) for row in rows[:3])
    return Made(
        f"{bias:.2f}, {own_bias:.1f}, {others:.1f}", markdown(["metric", "bias", *MACHINES, "mean: figure E.2"], rows)
    )


def figure_e3(data: Path) -> Made:
    ranks = measured(data)["scores"]["ranks"]
    moved = {name: [ranks[model][metric] for metric in ("5K R@1", "mAP@R")] for name, model in CITED.items()}
    better = [name for name, (before, after) in moved.items() if after < before]
    return Made(
        f"{', '.join(better)}; COCO 5K R@1 → mAP@R: "
        + ", ".join(f"{name} {before} → {after}" for name, (before, after) in moved.items())
    )
