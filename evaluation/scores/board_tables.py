"""A leaderboard printed: as text, CSV, LaTeX or figures."""

import csv
from collections.abc import Sequence
from io import StringIO
from typing import Any

import numpy as np

from evaluation.scores.boards import AVERAGE, Board, Cell, Column, Row, notes_of

SOURCE = ("kind", "estimand", "question", "level", "n_queries")
"""The last columns of a CSV, which are not scores."""
WIDEST = 8  # metrics of a LaTeX tabular


def plain_table(board: Board) -> str:
    """Return a table of percentages for each part (and benchmark), narrow enough for a terminal: one row per model;
    ``*`` marks the best, ``~`` those no worse for sure."""
    width = max([5, *(len(row.model) for row in board.rows)])
    lines = []
    for title, columns in board.blocks().items():
        wide = [max(6, len(column.metric)) for column in columns]
        heads = [column.metric.rjust(size) for column, size in zip(columns, wide, strict=True)]
        lines += ["", title, "  ".join(["model".ljust(width), *heads])]
        for row in board.rows:
            cells = [_marked(row.cells.get(column)).rjust(size) for column, size in zip(columns, wide, strict=True)]
            lines.append("  ".join([row.model.ljust(width), *cells]).rstrip())
    if len(board.rows) > 1 and any(cell.best for row in board.rows for cell in row.cells.values()):
        lines += [
            "",
            "* best   ~ not significantly different from the best (randomisation test over queries, p ≥ 0.05)",
        ]
    sources = [f"{source} --json has the 95% intervals, for queries drawn like these." for source in board.sources]
    return "\n".join([*lines[1:], *sources, *notes_of(board)])


def csv_table(board: Board) -> str:
    """Return a row a model: the model, for each column its percentage, and the ``SOURCE`` of its figures."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["model", *map(str, board.columns), *SOURCE])
    writer.writerows(
        [row.model, *(cell.percent if cell else "" for cell in cells), *_source(row)] for row, cells in board.lines()
    )
    return text.getvalue()


def latex_table(board: Board) -> str:
    """Return a table for LaTeX's booktabs, a tabular of at most ``WIDEST`` metrics for each part: percentages with
    their intervals below. The best of several models is bold, those no worse for sure are underlined."""
    caption = [f"{source} Percentages, with 95% intervals." for source in board.sources[:1]] + list(board.sources[1:])
    if any(cell.best for row in board.rows for cell in row.cells.values()):
        caption += ["Bold: the best; underlined: not significantly different from it (randomisation test, p ≥ 0.05)."]
    tabulars = [
        _tabular(title, columns[start : start + WIDEST], board.rows)
        for title, columns in board.blocks().items()
        for start in range(0, len(columns), WIDEST)
    ]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_escaped(' '.join(caption))}}}",
            r"\label{tab:scores}",
            "\n\n\\medskip\n".join(tabulars),
            *(f"% {_escaped(note)}" for note in notes_of(board)),
            r"\end{table}",
        ]
    )


def _tabular(title: str, columns: Sequence[Column], rows: Sequence[Row]) -> str:
    best = {at: cell.percent for row in rows for at, cell in row.cells.items() if cell.best}
    lines = []
    for row in rows:
        cells = [row.cells.get(column) for column in columns]
        marked = (_in_latex(cell, best.get(column)) for column, cell in zip(columns, cells, strict=True))
        lines.append([_escaped(row.model), *marked])
        if any(cell and cell.interval for cell in cells):
            lines.append(["", *(rf"{{\scriptsize {_escaped(cell.interval)}}}" if cell else "" for cell in cells)])
    heads = [_escaped(column.metric) for column in columns]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{l{'r' * len(columns)}}}",
            r"\toprule",
            rf" & \multicolumn{{{len(columns)}}}{{c}}{{{_escaped(title)}}} \\",
            " & ".join(["Model", *heads]) + r" \\",
            r"\midrule",
            *(" & ".join(line) + r" \\" for line in lines),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def figures_of(board: Board) -> dict[str, Any]:
    """Return model → part → metric → value in 0..1, its interval, what both are of, number of queries and marks."""
    found: dict[str, Any] = {}
    for row in board.rows:
        one: dict[str, Any] = {}
        for column, cell in row.cells.items():
            place = one.setdefault(column.benchmark, {}) if column.benchmark else one
            place.setdefault(column.part, {})[column.metric] = said_by(cell)
        found[row.model] = one | {"notes": list(row.notes)}
    return found


def said_by(cell: Cell) -> dict[str, Any]:
    """Return a figure with all that is known of it; NaN is None."""
    return {
        **{name: None if np.isnan(value) else value for name, value in vars(cell.figure).items()},
        "kind": cell.kind,
        "estimand": cell.estimand,
        "question": cell.question,
        "level": cell.level,
        "n_queries": cell.figure.queries,
        "best": cell.best,
        "not_significantly_worse": cell.best or cell.tied,
    }


def _source(row: Row) -> list[str]:
    """Return what the CSV says of a row's figures, each different value once: n_queries as ``i2t 14; t2i 14``."""
    sides = [(column, cell) for column, cell in row.cells.items() if column.part != AVERAGE]
    found = (
        [cell.kind for _, cell in sides],
        [cell.estimand for _, cell in sides],
        [cell.question for _, cell in sides],
        [str(cell.level) for _, cell in sides],
        [f"{column.benchmark} {column.part} {cell.figure.queries}".strip() for column, cell in sides],
    )
    return ["; ".join(dict.fromkeys(values)) for values in found]


def _marked(cell: Cell | None) -> str:
    if cell is None:
        return "- "
    return cell.percent + ("*" if cell.best else "~" if cell.tied else " ")


def _in_latex(cell: Cell | None, best: str | None) -> str:
    if cell is None:
        return "--"
    if cell.percent == best:  # also where a digit that is not printed differs
        return rf"\textbf{{{cell.percent}}}"
    return rf"\underline{{{cell.percent}}}" if cell.tied else cell.percent


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)


_LATEX = {sign: f"\\{sign}" for sign in "_&%$#{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "→": r"$\rightarrow$",
    "ζ": r"$\zeta$",
    "≥": r"$\geq$",
    "–": "--",
}
