"""How the annotators' scores depend on which annotators proposed the judged pairs (table E.1, figure E.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
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
from evaluation.analyses import Findings, cells, plain, shown, text_table
from evaluation.judged_versions import JudgedVersionParameters, judged_lists, true_qrels
from mitl.charts.drawing import Chart
from mitl.charts.lines import line_chart
from mitl.models import Direction

OFFERED = {**METRICS, **graded.METRICS}
SHOWN = ("R@1", "R-Precision", "mAP@R")


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


class BiasParameters(JudgedVersionParameters):
    metrics: Annotated[tuple[str, ...], f"metrics, comma-separated, or all: {', '.join(OFFERED)}"] = SHOWN
    without_positives: Annotated[
        Literal["skip", "zero"],
        "queries without a match among a subset's pairs: count them as zero, or skip them",
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
    tables = (_scores_table, _sizes_table, _left_out_table)
    return "\n\n".join(table(bias) for bias in found for table in tables)


def _scores_table(bias: Bias) -> str:
    scores = bias.scores
    names = scores.annotators
    truth = [] if bias.truth is None else [bias.truth]
    alone = scores.scores[: len(names)].T
    rows = [
        _percents(name, [*alone[place], scores.scores[-1, place], *(true[place] for true in truth)])
        for place, name in enumerate(names)
    ]
    rows.append(_percents("bias", [*scores.distances().mean(axis=1)[: len(names)], 0.0]) + [""] * len(truth))
    notes = []
    for true in truth:
        away = scores.distances(true).mean(axis=1)
        rows.append([*_percents("away", [*away[: len(names)], away[-1]]), ""])
        notes = ["away: mean distance from the true scores."]
    title = f"{bias.direction.label}, {bias.metric}, percent: rows by the pairs that a column's annotator proposed"
    return "\n".join([title, text_table(["", *names, "All", *(["truth"] if truth else [])], rows), *notes])


def _percents(name: str, values: Sequence[float]) -> list[str]:
    return [name, *(shown(100 * value, ".1f") for value in values)]


def _sizes_table(bias: Bias) -> str:
    away = {one.size: one.bias for one in bias.from_truth or []}
    rows = []
    for one in bias.sizes:
        values = [one.bias, one.self_bias, one.non_self_bias, *([away[one.size]] if away else [])]
        rows.append([str(one.size), *_percents(str(one.subsets), values)])
    heads = ["annotators", "subsets", "bias", "self", "others", *(["truth"] if away else [])]
    title = "Mean distance, in points, from the scores on all pairs; self: of those that proposed, others: of the rest."
    return f"{title}\n{text_table(heads, rows, left=0)}"


def _left_out_table(bias: Bias) -> str:
    rows = [
        [
            *cells(one, annotator="", matches=",", unique=","),
            f"{100 * one.bias:.1f}",
            f"{100 * one.before:.1f} -> {100 * one.after:.1f}",
            f"{one.rank_before} -> {one.rank_after}",
        ]
        for one in bias.left_out
    ]
    title = "Own score and rank: of the annotator left out, with its proposals -> without them."
    return f"{title}\n{text_table(['left out', 'matches', 'only its own', 'bias', 'own score', 'rank'], rows)}"


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


def bias_chart(found: Sequence[Bias]) -> Chart:
    """Draw bias, self-bias and non-self-bias by the number of annotators (figure E.2)."""
    return line_chart(
        "Bias by the number of annotators",
        "Mean distance, in points, from the scores on all annotators' pairs (figure E.2).",
        {f"{bias.direction.label}, {bias.metric}": _lines(bias) for bias in found},
        x="annotators that propose pairs",
        y="points",
    )


def _lines(bias: Bias) -> list[dict[str, Any]]:
    values = [
        {"line": name, "x": one.size, "y": 100 * getattr(one, name.replace("-", "_"))}
        for name in ("bias", "self-bias", "non-self-bias")
        for one in bias.sizes[:-1]
    ]
    away = bias.from_truth or []
    return [*values, *({"line": "distance from the truth", "x": one.size, "y": 100 * one.bias} for one in away)]
