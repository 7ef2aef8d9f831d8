"""The figures of active learning: means over seeds with intervals, a table, and a chart."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import scipy.stats

from core.text import counted
from counterpart_annotators.training.recall import Recalls
from mitl.charts.drawing import Spec
from mitl.charts.lines import look_chart
from mitl.models import Direction

LEVEL = 0.95
FIRST = tuple(f"{direction.value} R@1" for direction in Direction)
SUM = "R@1-sum"

Runs = Mapping[int, Mapping[str, Sequence[Recalls]]]
"""Seed → score → recalls at the start and after each step."""
Mean = dict[str, float | None]


def figures_of(runs: Runs, paired: Sequence[int], images: int) -> dict[str, Any]:
    """Return means over the seeds and their 95% intervals (Student's t; None with one seed).

    ``scores``: by score, the recalls of every step, and the ``R@1-sum`` over steps and directions (Jo et al., table
    3). ``differences``: of that sum, by two scores, each seed's own: a seed's scores share their start. ``runs``: the
    recalls of every seed, score and step. ``paired`` are the numbers of paired images at the start and after each step.
    """
    scores = list(next(iter(runs.values())))
    sums = {score: np.array([_sum(run[score]) for run in runs.values()]) for score in scores}
    return {
        "seeds": list(runs),
        "scores": {
            score: {
                "steps": [
                    {"paired": n, "share": round(n / images, 4), **_means([run[score][at] for run in runs.values()])}
                    for at, n in enumerate(paired)
                ],
                SUM: mean_of(sums[score]),
            }
            for score in scores
        },
        "differences": {f"{one} - {other}": mean_of(sums[one] - sums[other]) for one, other in combinations(scores, 2)},
        "runs": [
            {"seed": seed, "score": score, "paired": n, **recalls}
            for seed, run in runs.items()
            for score, steps in run.items()
            for n, recalls in zip(paired, steps, strict=True)
        ],
    }


def mean_of(values: Sequence[float] | np.ndarray) -> Mean:
    """Return the mean of independent values and its 95% interval by Student's t; None for that of one value."""
    mean = float(np.mean(values))
    n = len(values)
    if n < 2:
        return {"mean": round(mean, 2), "low": None, "high": None}
    reach = float(scipy.stats.t.ppf((1 + LEVEL) / 2, n - 1) * np.std(values, ddof=1) / np.sqrt(n))
    return {"mean": round(mean, 2), "low": round(mean - reach, 2), "high": round(mean + reach, 2)}


def table_of(figures: Mapping[str, Any]) -> str:
    """Return the figures as text: R@1 of both directions by score and share of paired images, sums and differences."""
    scores = figures["scores"]
    steps = next(iter(scores.values()))["steps"]
    width = max(len("paired"), *map(len, scores), *(len(pair) for pair in figures["differences"]))
    lines = [
        f"{figures['kind']} on {figures['collection']}: {counted(figures['images'], 'image')} to learn from, retrieval"
        f" on the split {figures['split']}, {counted(len(figures['seeds']), 'seed')}. R@1 in percent:",
        "",
        "  ".join(["paired".ljust(width), "   ", *(f"{100 * step['share']:6.1f}%" for step in steps)]),
    ]
    for score, found in scores.items():
        for name in FIRST:
            cells = [f"{step[name]['mean']:7.2f}" for step in found["steps"]]
            lines.append("  ".join([score.ljust(width), name.split()[0], *cells]))
    lines += ["", f"{SUM}, over steps and directions:"]
    lines += [f"{score.ljust(width)}  {_mean_text(found[SUM])}" for score, found in scores.items()]
    lines += [f"{pair.ljust(width)}  {_mean_text(mean)}" for pair, mean in figures["differences"].items()]
    return "\n".join(lines)


def chart_of(figures: Mapping[str, Any]) -> Spec:
    """Draw R@1 by the share of paired images, a line a score, with intervals."""
    return look_chart(
        f"Active learning: {figures['kind']} on {figures['collection']}",
        f"Mean R@1 of {counted(len(figures['seeds']), 'seed')} with 95% intervals, as images chosen by a score get"
        " captions.",
        {
            direction.label: [
                {
                    "line": score,
                    "x": f"{100 * step['share']:.0f}%",
                    "y": mean["mean"],
                    "low": mean["mean"] if mean["low"] is None else mean["low"],
                    "high": mean["mean"] if mean["high"] is None else mean["high"],
                }
                for score, found in figures["scores"].items()
                for step in found["steps"]
                for mean in [step[f"{direction.value} R@1"]]
            ]
            for direction in Direction
        },
        x="paired images",
        y="R@1 (%)",
    )


def _sum(steps: Sequence[Recalls]) -> float:
    return sum(recalls[name] for recalls in steps for name in FIRST)


def _means(recalls: Sequence[Recalls]) -> dict[str, Mean]:
    return {name: mean_of([recall[name] for recall in recalls]) for name in recalls[0]}


def _mean_text(mean: Mean) -> str:
    interval = "" if mean["low"] is None else f"  ({mean['low']:.2f} to {mean['high']:.2f})"
    return f"{mean['mean']:8.2f}{interval}"
