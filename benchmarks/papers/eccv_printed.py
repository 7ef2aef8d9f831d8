"""What ECCV Caption prints of 25 models: tables 4, D.2 and D.3 (``eccv_scores.csv``), and table 5. In percent."""

import csv
from pathlib import Path

SCORES = Path(__file__).with_name("eccv_scores.csv")
METRICS = ("mAP@R", "R-P", "ECCV R@1", "CxC R@1", "1K R@1", "1K R@5", "1K R@10", "5K R@1", "5K R@5", "5K R@10", "PMRP")
TABLE_5 = {
    "1K R@1": (1, 0.87, 0.86, 0.89, 0.97, 0.92, 0.89, 0.72, 0.39, 0.47, 0.45),
    "1K R@5": (0.87, 1, 0.97, 0.79, 0.88, 0.93, 0.79, 0.81, 0.49, 0.58, 0.39),
    "1K R@10": (0.86, 0.97, 1, 0.77, 0.86, 0.91, 0.77, 0.79, 0.49, 0.57, 0.43),
    "5K R@1": (0.89, 0.79, 0.77, 1, 0.89, 0.83, 1, 0.65, 0.30, 0.39, 0.45),
    "5K R@5": (0.97, 0.88, 0.86, 0.89, 1, 0.95, 0.89, 0.75, 0.41, 0.50, 0.43),
    "5K R@10": (0.92, 0.93, 0.91, 0.83, 0.95, 1, 0.83, 0.80, 0.47, 0.55, 0.38),
    "CxC R@1": (0.89, 0.79, 0.77, 1, 0.89, 0.83, 1, 0.65, 0.30, 0.39, 0.45),
    "ECCV R@1": (0.72, 0.81, 0.79, 0.65, 0.75, 0.80, 0.65, 1, 0.65, 0.74, 0.29),
    "R-P": (0.39, 0.49, 0.49, 0.30, 0.41, 0.47, 0.30, 0.65, 1, 0.90, 0.17),
    "mAP@R": (0.47, 0.58, 0.57, 0.39, 0.50, 0.55, 0.39, 0.74, 0.90, 1, 0.20),
    "PMRP": (0.45, 0.39, 0.43, 0.45, 0.43, 0.38, 0.45, 0.29, 0.17, 0.20, 1),
}
"""Kendall's tau-b: a row a metric, the columns in the order of the rows."""

Scores = dict[str, dict[str, float]]
"""Model → metric → score."""


def printed(table: str) -> Scores:
    """Return a table, ``4``, ``D.2`` (image to text) or ``D.3`` (text to image); table 4 has no R@5 and R@10."""
    with SCORES.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["table"] == table]
    return {row["model"]: {metric: float(row[metric]) for metric in METRICS if row[metric]} for row in rows}


def averages() -> Scores:
    """Return the means of tables D.2 and D.3. Table 5 correlates them. PMRP is that of table 4, because the PMRP of
    D.2 and D.3 is not the one with ζ = 0."""
    sides = printed("D.2"), printed("D.3")
    means = {
        model: {metric: round((value + sides[1][model][metric]) / 2, 3) for metric, value in scores.items()}
        for model, scores in sides[0].items()
    }
    return {model: scores | {"PMRP": printed("4")[model]["PMRP"]} for model, scores in means.items()}


def write_scores(scores: Scores, path: Path) -> Path:
    """Write scores as ``analyse benchmarks --scores`` reads them: a row a model."""
    metrics = list(next(iter(scores.values())))
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["model", *metrics])
        writer.writerows([model, *(found[metric] for metric in metrics)] for model, found in scores.items())
    return path
