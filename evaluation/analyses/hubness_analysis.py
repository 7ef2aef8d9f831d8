"""How strongly hubs dominate the annotators' stored lists: skewness of N_k, hs-sum, the largest hub."""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.progress import Progress
from corpus.models import Caption, Collection, Image, Match
from counterpart_topk.hubness import DEPTHS, k_occurrence, skewness
from counterpart_topk.hubness.step_tables import BY_RELAXATION, tuned_tables
from evaluation.analyses import Findings, shown, text_table
from mitl.active_learning.active_steps import TEST, read_measured
from mitl.annotators import load
from mitl.charts.drawing import Chart
from mitl.charts.lines import line_chart, tail_chart
from mitl.models import Annotator, Direction
from mitl.search.retrieval import errors_of
from mitl.search.search_parameters import ListsParameters
from mitl.search.store import NewestLists
from mitl.search.tuning import SPLIT

DEEPEST = max(DEPTHS)


class HubnessParameters(ListsParameters):
    steps: Annotated[
        bool, "compare the re-rankings instead, by recall of the original pairs of the split test, tuned on val"
    ] = False


def analyse(parameters: HubnessParameters, *, progress: Progress) -> Findings:
    """Measure the newest lists, or compare re-rankings.

    Raises CounterpartError if lists are missing or have fewer than ten entries; to compare, if there is neither of the
    splits test and val, and for annotators without scores.
    """
    if parameters.steps:
        return _compared(parameters, progress)
    found = parameters.newest(DEEPEST)
    counts = _counts(found)
    by_name = _figures(found, counts)
    figures = {"collection": parameters.collection, "queries": parameters.queries, "annotators": by_name}
    return Findings(figures, _text(by_name), _chart(counts), _rows(by_name))


def _compared(parameters: HubnessParameters, progress: Progress) -> Findings:
    """Return the tables of ``tuned_tables``, tried on val and measured on test, or both on the one split there is."""
    collection = Collection.objects.named(parameters.collection)
    splits = [split for split in (SPLIT, TEST) if collection.images.filter(split=split).exists()]
    if not splits:
        raise CounterpartError(f"{collection} has no images in the splits test and val; import it with its splits.")
    rows: list[dict[str, Any]] = []
    for annotator in Annotator.objects.all_named(parameters.annotators):
        with errors_of(annotator):
            opened = load(annotator)
            parts = [read_measured(collection, split, Match.ORIGINAL) for split in splits]
            scored = [(opened.scores(part.images, part.captions, progress=progress), part.pairs) for part in parts]
            rows += [{"annotator": annotator.name, **row} for row in tuned_tables(*scored, progress=progress)]
    curves: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["table"] == BY_RELAXATION:
            point = {"line": row["method"], "x": row["relaxation"], "y": row["i2t R@10"]}
            curves.setdefault(row["annotator"], []).append(point)
    table = [[shown(cell, "" if isinstance(cell, str) else ".4g") for cell in row.values()] for row in rows]
    text = f"{text_table(list(rows[0]), table, left=3)}\n\nMethods: split {splits[-1]}; {BY_RELAXATION}: {splits[0]}."
    chart = line_chart("RGM by its relaxation", f"Split {splits[0]}", curves, "relaxation", "i2t R@10, %", zero=False)
    return Findings({"collection": collection.name, "rows": rows}, text, chart, rows)


Counts = dict[Direction, dict[int, dict[str, NDArray[np.int64]]]]


def _counts(found: NewestLists) -> Counts:
    """Return direction → k → annotator → N_k of every item."""
    return {
        direction: {
            k: {
                annotator.name: k_occurrence(lists[:, :k], len(found.gallery.ids_of_items(direction)))
                for annotator, lists in zip(found.annotators, found.places(direction), strict=True)
            }
            for k in DEPTHS
        }
        for direction in found.directions
    }


def _figures(found: NewestLists, counts: Counts) -> dict[str, dict[str, Any]]:
    by_name: dict[str, dict[str, Any]] = {}
    for annotator in found.annotators:
        directions = {
            direction.value: {
                "queries": len(found.gallery.asks(direction)),
                "items": len(found.gallery.ids_of_items(direction)),
                "skewness": {str(k): skewness(by_annotator[annotator.name]) for k, by_annotator in by_depth.items()},
                **_extremes(found, direction, by_depth[DEEPEST][annotator.name]),
            }
            for direction, by_depth in counts.items()
        }
        total = sum(sum(one["skewness"].values()) for one in directions.values())
        by_name[annotator.name] = {**directions, "hs_sum": total if len(directions) == len(Direction) else None}
    return by_name


def _extremes(found: NewestLists, direction: Direction, counts: NDArray[np.int64]) -> dict[str, Any]:
    largest = int(counts.argmax())
    kind = Caption if direction == Direction.IMAGE_TO_CAPTION else Image
    key = kind._default_manager.values_list("key", flat=True).get(pk=found.gallery.ids_of_items(direction)[largest])
    return {
        "largest_hub": {"key": key, f"n_{DEEPEST}": int(counts[largest])},
        "never_found": int((counts == 0).sum()),
    }


def _rows(by_name: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a row per annotator and direction."""
    return [
        {
            "annotator": name,
            "direction": direction.value,
            "queries": found["queries"],
            "items": found["items"],
            **{f"skewness_{k}": found["skewness"][str(k)] for k in DEPTHS},
            "hs_sum": figures["hs_sum"],
            "largest_hub": found["largest_hub"]["key"],
            "largest_hub_count": found["largest_hub"][f"n_{DEEPEST}"],
            "never_found": found["never_found"],
        }
        for name, figures in by_name.items()
        for direction in Direction
        if (found := figures.get(direction.value))
    ]


def _text(by_name: Mapping[str, Mapping[str, Any]]) -> str:
    directions = [direction for direction in Direction if direction.value in next(iter(by_name.values()))]
    heads = ["skewness", *(f"{direction.value} N_{k}" for direction in directions for k in DEPTHS), "hs-sum"]
    rows = [
        [
            name,
            *(f"{figures[way.value]['skewness'][str(k)]:.2f}" for way in directions for k in DEPTHS),
            shown(figures["hs_sum"], ".2f"),
        ]
        for name, figures in by_name.items()
    ]
    hubs = [_hub_line(name, figures, way) for name, figures in by_name.items() for way in directions]
    return "\n".join([text_table(heads, rows), "", *hubs])


def _hub_line(name: str, annotator_figures: Mapping[str, Any], direction: Direction) -> str:
    figures = annotator_figures[direction.value]
    asking, found = ("image", "caption") if direction == Direction.IMAGE_TO_CAPTION else ("caption", "image")
    hub = figures["largest_hub"]
    return (
        f"{name}: {found} {hub['key']} is in the top {DEEPEST} of {hub[f'n_{DEEPEST}']:,} of"
        f" {figures['queries']:,} {asking}s; {figures['never_found']:,} of {figures['items']:,} {found}s are in none."
    )


def _chart(counts: Counts) -> Chart:
    return tail_chart(
        f"Hubs in the top {DEEPEST}",
        "Number of items that occur in at least x queries' lists. The further right a line ends, the larger the hubs.",
        {direction.label: by_depth[DEEPEST] for direction, by_depth in counts.items()},
        x="lists with the item, at least (N₁₀)",
        y="items",
    )
