"""Bias: how the annotators' scores depend on which of them proposed the pairs (ECCV Caption, table E.1, figure E.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from typing import Annotated, Any, get_args

import numpy as np
from django import forms
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.parameters import choices
from core.progress import Progress, silent, tracked
from counterpart_metrics import METRICS, Metric, WithoutPositives, find, graded, mean_over_queries
from counterpart_statistics.bias import (
    LARGEST,
    LeftOut,
    SizeBias,
    SubsetScores,
    bias_by_size,
    leave_one_out,
    subset_scores,
)
from counterpart_statistics.judged.judged_lists import JudgedLists
from dataset.models import Version
from evaluation.analyses import Findings, plain
from evaluation.judged_versions import JudgedVersionParameters, judged_lists, true_qrels
from mitl.charts.drawing import Spec
from mitl.charts.lines import line_chart
from mitl.models import Direction

OFFERED = {**METRICS, **graded.METRICS}
HELP = "How the annotators' scores depend on which annotators proposed the judged pairs (table E.1, figure E.2)."
SHOWN = ("R@1", "R-Precision", "mAP@R")
POLICIES = [policy for policy in get_args(WithoutPositives) if policy != "error"]


@dataclass(frozen=True)
class Bias:
    """The bias of one direction by one metric. ``truth`` (A,) are the annotators' scores by all true matches."""

    direction: Direction
    metric: str
    scores: SubsetScores
    sizes: list[SizeBias]
    left_out: list[LeftOut]
    truth: NDArray[np.float64] | None = None
    from_truth: list[SizeBias] | None = None


@dataclass(frozen=True, kw_only=True)
class BiasParameters(JudgedVersionParameters):
    metrics: Annotated[tuple[str, ...], f"metrics, comma-separated, or all: {', '.join(OFFERED)}"] = SHOWN
    without_positives: Annotated[
        WithoutPositives,
        forms.ChoiceField(
            choices=choices(*POLICIES),
            help_text="queries without a match among a subset's pairs: count them as zero, or skip them",
        ),
    ] = "zero"


def analyse(parameters: BiasParameters, *, progress: Progress) -> Findings:
    """Score the annotators on every subset's pairs. Raises CounterpartError for unknown metrics and one annotator."""
    version = Version.objects.named(parameters.name)
    truth = parameters.truth
    without_positives = parameters.without_positives
    found = measure_bias(
        version, _metrics(parameters.metrics), truth=truth, without_positives=without_positives, progress=progress
    )
    figures = {"version": version.name, "truth": truth, "without_positives": without_positives}
    return Findings(figures | {"bias": [_figures(one) for one in found]}, _text(found), bias_chart(found), _rows(found))


def measure_bias(
    version: Version,
    metrics: Mapping[str, Metric],
    *,
    truth: str | None = None,
    without_positives: WithoutPositives = "zero",
    progress: Progress = silent,
) -> list[Bias]:
    """Return the bias of each direction by each metric."""
    judged = judged_lists(version)
    annotators = next(iter(judged.values())).annotators
    if not 2 <= len(annotators) <= LARGEST:
        raise CounterpartError(
            f"Bias compares 2 to {LARGEST} annotators; version {version} has judged pairs of {len(annotators)}."
        )
    wanted = [(direction, name) for direction in judged for name in metrics]
    return [
        _measure(version, direction, judged[direction], name, metrics[name], truth, without_positives)
        for direction, name in tracked(wanted, "metrics", progress, every=1)
    ]


def _measure(
    version: Version,
    direction: Direction,
    judged: JudgedLists,
    name: str,
    metric: Metric,
    truth: str | None,
    without_positives: WithoutPositives,
) -> Bias:
    scores = subset_scores(judged.found, judged.proposed, metric, without_positives=without_positives)
    left_out = leave_one_out(scores, judged.proposed, judged.qrels.matches)
    if truth is None:
        return Bias(direction, name, scores, bias_by_size(scores), left_out)
    qrels = true_qrels(version, truth, direction)
    values = [metric(find(judged.rankings[annotator], qrels)) for annotator in scores.annotators]
    true = np.array([mean_over_queries(one, without_positives=without_positives).value for one in values])
    return Bias(direction, name, scores, bias_by_size(scores), left_out, true, bias_by_size(scores, true))


def _metrics(names: Sequence[str]) -> dict[str, Metric]:
    wanted = list(OFFERED) if names == ("all",) else names
    unknown = [name for name in wanted if name not in OFFERED]
    if unknown:
        raise CounterpartError(f"Unknown metrics {', '.join(unknown)}: use {', '.join(OFFERED)}, or all.")
    return {name: OFFERED[name] for name in wanted}


def _figures(bias: Bias) -> dict[str, Any]:
    scores = bias.scores
    distance = None if bias.truth is None else scores.distances(bias.truth).mean(axis=1).tolist()
    return {
        "direction": bias.direction.value,
        "metric": bias.metric,
        "annotators": list(scores.annotators),
        "subsets": [
            {
                "annotators": [name for name, inside in zip(scores.annotators, members, strict=True) if inside],
                "scores": row,
                "bias": float(np.mean(moved)),
                "distance_from_truth": distance[place] if distance else None,
            }
            for place, (members, row, moved) in enumerate(
                zip(scores.members, scores.scores.tolist(), scores.distances(), strict=True)
            )
        ],
        "sizes": [plain(asdict(one)) for one in bias.sizes],
        "left_out": [asdict(one) for one in bias.left_out],
        "truth": None if bias.truth is None else bias.truth.tolist(),
        "distance_from_truth_by_size": None
        if bias.from_truth is None
        else [plain(asdict(one)) for one in bias.from_truth],
    }


def _text(found: Sequence[Bias]) -> str:
    return "\n\n".join(
        "\n".join([*_scores_table(bias), "", *_sizes_table(bias), "", *_left_out_table(bias)]) for bias in found
    )


def _scores_table(bias: Bias) -> list[str]:
    scores = bias.scores
    names = bias.scores.annotators
    heads = [*names, "All", *(["truth"] if bias.truth is not None else [])]
    width = max(7, *map(len, heads))
    alone = scores.scores[: len(names)].T
    lines = [
        f"{bias.direction.label}, {bias.metric}, percent: rows by the pairs that a column's annotator proposed",
        "  ".join(text.rjust(width) for text in ["", *heads]),
    ]
    for place, name in enumerate(names):
        cells = [*alone[place], scores.scores[-1, place], *([] if bias.truth is None else [bias.truth[place]])]
        lines.append("  ".join([name.rjust(width), *(f"{100 * cell:.1f}".rjust(width) for cell in cells)]))
    biases = [*scores.distances().mean(axis=1)[: len(names)], 0.0]
    lines.append("  ".join(["bias".rjust(width), *(f"{100 * one:.1f}".rjust(width) for one in biases)]))
    if bias.truth is not None:
        away = scores.distances(bias.truth).mean(axis=1)
        cells = [*away[: len(names)], away[-1]]
        lines.append("  ".join(["away".rjust(width), *(f"{100 * one:.1f}".rjust(width) for one in cells)]))
        lines.append("away: mean distance from the true scores.")
    return lines


def _sizes_table(bias: Bias) -> list[str]:
    away = {one.size: one.bias for one in bias.from_truth or []}
    lines = [
        "Mean distance, in points, from the scores on all pairs; self: of those that proposed, others: of the rest.",
        f"{'annotators':>10}  {'subsets':>7}  {'bias':>6}  {'self':>6}  {'others':>6}{'  truth' if away else ''}",
    ]
    for one in bias.sizes:
        cells = [one.bias, one.self_bias, one.non_self_bias, *([away[one.size]] if away else [])]
        shown = "  ".join("     -" if isnan(cell) else f"{100 * cell:6.1f}" for cell in cells)
        lines.append(f"{one.size:>10}  {one.subsets:>7}  {shown}")
    return lines


def _left_out_table(bias: Bias) -> list[str]:
    width = max(9, *map(len, bias.scores.annotators))
    lines = [
        "Own score and rank: of the annotator left out, with its proposals -> without them.",
        f"{'left out':<{width}}  matches  only its own    bias  own score    rank",
    ]
    for one in bias.left_out:
        score = f"{100 * one.before:.1f} -> {100 * one.after:.1f}"
        lines.append(
            f"{one.annotator:<{width}}  {one.matches:>7,}  {one.unique:>12,}  {100 * one.bias:>6.1f}  {score:>9}"
            f"  {one.rank_before} -> {one.rank_after}"
        )
    return lines


def _rows(found: Sequence[Bias]) -> list[dict[str, Any]]:
    """Return a row for each subset and annotator."""
    rows = []
    for bias in found:
        scores = bias.scores
        for members, row in zip(scores.members, scores.scores.tolist(), strict=True):
            subset = ";".join(np.array(scores.annotators)[members])
            for place, (name, score) in enumerate(zip(scores.annotators, row, strict=True)):
                rows.append(
                    {
                        "direction": bias.direction.value,
                        "metric": bias.metric,
                        "subset": subset,
                        "size": int(members.sum()),
                        "annotator": name,
                        "in_subset": int(members[place]),
                        "score": score,
                        "score_all": float(scores.scores[-1, place]),
                        "score_true": None if bias.truth is None else float(bias.truth[place]),
                    }
                )
    return rows


def bias_chart(found: Sequence[Bias]) -> Spec:
    """Draw bias, self-bias and non-self-bias by the number of annotators (figure E.2)."""
    return line_chart(
        "Bias by the number of annotators",
        "Mean distance, in points, from the scores on all annotators' pairs (figure E.2).",
        {f"{bias.direction.label}, {bias.metric}": _lines(bias) for bias in found},
        x="annotators that propose pairs",
        y="points",
    )


def _lines(bias: Bias) -> list[dict[str, Any]]:
    lines = {"bias": bias.sizes[:-1], "self-bias": bias.sizes[:-1], "non-self-bias": bias.sizes[:-1]}
    values = [
        {"line": name, "x": one.size, "y": 100 * getattr(one, name.replace("-", "_"))}
        for name, sizes in lines.items()
        for one in sizes
    ]
    away = bias.from_truth or []
    return [*values, *({"line": "distance from the truth", "x": one.size, "y": 100 * one.bias} for one in away)]
