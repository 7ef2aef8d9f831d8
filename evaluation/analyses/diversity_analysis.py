"""How differently annotators rank: Kendall's tau-b of their stored lists, and the ranks of the best items."""

from typing import Annotated, Any

import numpy as np
from django import forms
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.progress import Progress
from counterpart_statistics.rank_agreement import Absent, first_place_ranks, rank_correlations
from evaluation.analyses import Findings, matrix_rows, matrix_table, plain
from mitl.charts.drawing import Chart
from mitl.charts.heat_maps import heat_map
from mitl.models import Annotator, Direction
from mitl.search.search_parameters import ListsParameters

TITLES = {"tau": "Kendall's tau-b", "rank": "rank of the row's best item in the column's list"}

Matrices = dict[Direction, dict[str, NDArray[np.float64]]]


class DiversityParameters(ListsParameters):
    depth: Annotated[int, forms.IntegerField(min_value=1, help_text="entries of each list that count")] = 25
    absent: Annotated[Absent, "items in only one of two lists: ranked after the other list, or left out"] = "last"


def analyse(parameters: DiversityParameters, *, progress: Progress) -> Findings:
    """Compare the newest lists. Raises CounterpartError for a single annotator, or missing or short lists."""
    if len(Annotator.objects.all_named(parameters.annotators)) < 2:
        raise CounterpartError("Diversity needs two or more annotators. Name another.")
    depth = parameters.depth
    absent = parameters.absent
    found = parameters.newest(depth)
    names = [annotator.name for annotator in found.annotators]
    matrices: Matrices = {
        direction: {
            "tau": rank_correlations(found.items(direction), absent=absent),
            "rank": first_place_ranks(found.items(direction), absent=absent),
        }
        for direction in found.directions
    }
    figures = {
        "collection": parameters.collection,
        "queries": parameters.queries,
        "depth": depth,
        "absent": absent,
        "annotators": names,
        **{
            direction.value: {name: plain(matrix.tolist()) for name, matrix in both.items()}
            for direction, both in matrices.items()
        },
    }
    return Findings(figures, _text(names, matrices), _chart(names, matrices, depth, absent), _rows(names, matrices))


def _rows(names: list[str], matrices: Matrices) -> list[dict[str, Any]]:
    """Return a row per direction and two annotators: of ``rank`` the first item of ``row`` in ``column``'s list."""
    return [
        {"direction": direction.value, **row}
        for direction, both in matrices.items()
        for row in matrix_rows(names, {"tau_b": both["tau"], "rank": both["rank"]})
        if row["row"] != row["column"]
    ]


def _text(names: list[str], matrices: Matrices) -> str:
    return "\n\n".join(
        matrix_table(f"{direction.label}: {TITLES[figure]}", names, matrix, ".3f" if figure == "tau" else ".2f")
        for direction, both in matrices.items()
        for figure, matrix in both.items()
    )


def _chart(names: list[str], matrices: Matrices, depth: int, absent: str) -> Chart:
    policy = f"ranked {depth + 1}" if absent == "last" else "left out"
    return Chart(
        "Similarity of the annotators' rankings",
        f"Top {depth}, means over queries; items in only one of two lists are {policy}. Darker means more similar.",
        [
            heat_map(f"{direction.label}: {TITLES[figure]}", names, both[figure], form=form, scale=(palest, 1))
            for direction, both in matrices.items()
            for figure, form, palest in (("tau", ".2f", -1), ("rank", ".1f", depth + 1))
        ],
        per_line=2,
    )
