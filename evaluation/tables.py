"""Scores as text: a plain table, CSV or LaTeX, a row for each model."""

import csv
from collections.abc import Sequence
from io import StringIO

from evaluation.scoring import METRICS, Scored
from mitl.models import Direction

COLUMNS = [(direction, metric) for direction in Direction for metric in METRICS]
HEADS = [f"{direction.value} {metric}" for direction, metric in COLUMNS]


def plain_table(scored: Sequence[Scored]) -> str:
    """Percentages with one decimal, and a note where lists were too short."""
    width = max(len(model.model) for model in scored)
    lines = ["  ".join([" " * width, *HEADS])]
    for model in scored:
        cells = [cell.rjust(len(head)) for cell, head in zip(_cells(model), HEADS, strict=True)]
        lines.append("  ".join([model.model.ljust(width), *cells]))
    return "\n".join([*lines, *_notes(scored)])


def csv_table(scored: Sequence[Scored]) -> str:
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["model", *HEADS])
    writer.writerows([model.model, *_cells(model)] for model in scored)
    return text.getvalue().rstrip("\n")


def latex_table(scored: Sequence[Scored]) -> str:
    """A tabular for the booktabs package."""
    rows = [" & ".join([_escaped(model.model), *_cells(model)]) + r" \\" for model in scored]
    head = " & ".join(["Model", *HEADS]) + r" \\"
    return "\n".join(
        [
            rf"\begin{{tabular}}{{l{'r' * len(HEADS)}}}",
            r"\toprule",
            head,
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def figures(scored: Sequence[Scored]) -> dict[str, dict[str, dict[str, float | int]]]:
    """model → direction → metric → mean in 0..1, with the number of queries and of lists cut off."""
    return {
        model.model: {
            direction.value: {
                **{metric: mean.value for metric, mean in metrics.items()},
                "queries": next(iter(metrics.values())).queries,
                "lists_shorter_than_r": model.cut_off[direction],
            }
            for direction, metrics in model.scores.items()
        }
        for model in scored
    }


def _cells(model: Scored) -> list[str]:
    means = [model.scores.get(direction, {}).get(metric) for direction, metric in COLUMNS]
    return [f"{100 * mean.value:.1f}" if mean and mean.queries else "-" for mean in means]


def _notes(scored: Sequence[Scored]) -> list[str]:
    return [
        f"{model.model} {direction.value}: {count} queries have more positives than their list has places; "
        "the missing places count as wrong."
        for model in scored
        for direction, count in model.cut_off.items()
        if count
    ]


def _escaped(name: str) -> str:
    return name.replace("\\", r"\textbackslash{}").replace("_", r"\_").replace("&", r"\&").replace("%", r"\%")
