"""The subjects of the command ``analyse``: every module of this package, named SUBJECT_analysis, is one.

A subject has a docstring of one line, its help, and ``analyse(parameters, *, progress)``, which returns ``Findings``
and raises CounterpartError; ``parameters`` is annotated with the subject's class of parameters, from which the command
makes its options. The command adds ``--json``, ``--csv`` and ``--plot`` to each.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from io import StringIO
from math import isnan
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray

from core.extensions import ANALYSES
from core.parameters import Parameters
from core.text import text_table as text_table
from mitl.charts.drawing import Chart


@dataclass(frozen=True)
class Findings:
    """The result of an analysis: ``figures`` (for JSON), a text, a chart, and ``rows`` (for CSV).

    The rows have the same names each; None and NaN are empty cells. ``said`` are the sentences of the text that a page
    shows above the chart.
    """

    figures: dict[str, Any]
    text: str
    chart: Chart
    rows: Sequence[Mapping[str, Any]]
    said: Sequence[str] = ()


def helps() -> dict[str, str]:
    """Return the help of all subjects, by name, without importing what any of them needs."""
    sources = sorted(Path(__file__).parent.glob("*_analysis.py"))
    first = {one.stem: one.read_text(encoding="utf-8").partition("\n")[0] for one in sources}
    return {name.removesuffix("_analysis"): line.strip('"') for name, line in first.items()}


def subject_named(name: str) -> ModuleType:
    """Return the module of a subject, without importing what all others need."""
    return import_module(f"{ANALYSES}.{name}_analysis")


def parameters_of(subject: ModuleType) -> type[Parameters]:
    """Return the class of the parameters that the analysis of a subject takes."""
    declared: type[Parameters] = get_type_hints(subject.analyse)["parameters"]
    return declared


def matrix_table(title: str, names: Sequence[str], matrix: NDArray[np.float64], form: str) -> str:
    """Return a square matrix under its title, ``-`` on the diagonal and where it is undefined."""
    cells = [
        [name, *("-" if i == j else shown(value, form) for j, value in enumerate(matrix[i]))]
        for i, name in enumerate(names)
    ]
    return f"{title}\n{text_table(['', *names], cells)}"


def matrix_rows(names: Sequence[str], matrices: Mapping[str, NDArray[np.float64]]) -> list[dict[str, Any]]:
    """Return a row for every two names, with the value of each matrix."""
    return [
        {"row": row, "column": column, **{name: float(matrix[i, j]) for name, matrix in matrices.items()}}
        for i, row in enumerate(names)
        for j, column in enumerate(names)
    ]


def shown(value: float | str | None, form: str) -> str:
    """Return a figure in the given format, ``-`` where it is undefined."""
    return "-" if _is_undefined(value) else format(value, form)


def cells(row: object, **forms: str) -> list[str]:
    """Return fields of a row, or attributes of an object, as text in the given formats: ``cells(row, pairs=",")``."""
    return [shown(row[name] if isinstance(row, Mapping) else getattr(row, name), form) for name, form in forms.items()]


def interval_text(row: object, form: str = ".3f") -> str:
    """Return ``0.125 to 0.500`` of a row's ``low`` and ``high``."""
    return " to ".join(cells(row, low=form, high=form))


def plain(value: Any) -> Any:
    """Return figures for JSON: None for those that are undefined, as JSON has no NaN."""
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return None if _is_undefined(value) else value


def csv_text(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] = ()) -> str:
    """Return rows as CSV, with their columns or those named; None and NaN are empty cells."""
    text = StringIO()
    writer = csv.DictWriter(text, columns or (list(rows[0]) if rows else []), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: "" if _is_undefined(value) else value for name, value in row.items()} for row in rows)
    return text.getvalue()


def _is_undefined(value: object) -> bool:
    return value is None or (isinstance(value, float | np.floating) and isnan(value))
