"""Whether a probabilistic annotator (pcme) is less certain about items with more matches (figure 3b)."""

from typing import Annotated, Any

from core.parameters import POSITIONAL, Option, Parameters
from core.progress import Progress
from corpus.models import Collection, Match
from counterpart_statistics.correlation import Multiplicity, multiplicity
from evaluation.analyses import Findings, cells, text_table
from mitl.charts.drawing import Chart
from mitl.charts.lines import line_chart
from mitl.item_uncertainty import count_positives, measure_uncertainty
from mitl.models import Annotator
from mitl.search.gallery import open_gallery
from mitl.search.top_lists import Device

ROWS = 12  # levels shown on the terminal


class UncertaintyParameters(Parameters):
    collection: Annotated[str, "the collection whose gallery is measured", POSITIONAL]
    annotator: Annotated[str, "an annotator with uncertainty estimates (pcme)", Option(metavar="A")]
    matches: Annotated[
        str,
        "source of the matches: original or a released version, of which levels 1 and 2 count",
        Option(metavar="SOURCE"),
    ] = Match.ORIGINAL
    device: Annotated[Device, "device to run the annotator on"] = "cpu"


def analyse(parameters: UncertaintyParameters, *, progress: Progress) -> Findings:
    """Measure the uncertainty of the gallery's items and compare it with their numbers of matches.

    Raises CounterpartError for an annotator without uncertainty estimates and for an unknown source.
    """
    (measured,) = Annotator.objects.all_named([parameters.annotator])
    found = Collection.objects.named(parameters.collection)
    gallery = open_gallery(found, None)
    counts = count_positives(gallery, found, parameters.matches)
    unsure = measure_uncertainty(measured, gallery, device=parameters.device, progress=progress)
    sides = {
        "images": multiplicity(unsure.images, counts[0]),
        "captions": multiplicity(unsure.captions, counts[1]),
    }
    figures: dict[str, Any] = {name: getattr(parameters, name) for name in ("collection", "annotator", "matches")}
    for name, side in sides.items():
        figures[name] = {"tau_b": side.tau_b, "levels": [vars(level) for level in side.levels]}
    rows = [{"side": name, **vars(level)} for name, side in sides.items() for level in side.levels]
    text = "\n\n".join(_table(name, side) for name, side in sides.items())
    return Findings(figures, text, _chart(sides), rows)


def _table(name: str, side: Multiplicity) -> str:
    rows = [cells(level, positives=",", items=",", uncertainty=".4f") for level in side.levels[:ROWS]]
    more = len(side.levels) - ROWS
    lines = [
        f"{name}: tau-b of uncertainty with the number of matches {side.tau_b:.3f}",
        text_table(["matches", name, "uncertainty"], rows, left=0),
        *([f"... and {more} more levels; --json prints all."] if more > 0 else []),
    ]
    return "\n".join(lines)


def _chart(sides: dict[str, Multiplicity]) -> Chart:
    panels = {
        f"{name} (tau-b {side.tau_b:.2f})": [
            {
                "line": "",
                "x": level.positives,
                "y": level.uncertainty,
                "size": 3 + 9 * (level.items / max(one.items for one in side.levels)) ** 0.5,
            }
            for level in side.levels
        ]
        for name, side in sides.items()
    }
    return line_chart(
        "Uncertainty and matches",
        "Mean uncertainty by number of matches; a larger dot means more items.",
        panels,
        x="matches",
        y="uncertainty",
        zero=False,
        per_line=2,
        is_drawn=False,
    )
