"""Uncertainty: whether an annotator is less certain about items with many matches (ECCV Caption, figure 3b)."""

from typing import Any

from django.core.management.base import CommandParser

from core.progress import Progress
from corpus.models import Collection, Match
from evaluation.analyses import Findings
from mitl.charts import Spec, level_chart
from mitl.item_uncertainty import Multiplicity, count_positives, measure_uncertainty, multiplicity
from mitl.models import Annotator
from mitl.search.gallery import open_gallery

HELP = "Whether a probabilistic annotator (pcme) is less certain about items with more matches (figure 3b)."
ROWS = 12  # levels shown on the terminal


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument("collection", metavar="COLLECTION", help="the collection whose gallery is measured")
    parser.add_argument(
        "--annotator", required=True, metavar="A", help="an annotator with uncertainty estimates (pcme)"
    )
    parser.add_argument(
        "--matches",
        default=Match.ORIGINAL,
        metavar="SOURCE",
        help="source of the matches: original or a released version, of which levels 1 and 2 count (default original)",
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="device to run the annotator on")


def analyse(
    *, progress: Progress, collection: str, annotator: str, matches: str, device: str, **options: object
) -> Findings:
    """Measure the uncertainty of the gallery's items and compare it with their numbers of matches.

    Raises CounterpartError for an annotator without uncertainty estimates and for an unknown source.
    """
    (measured,), found = Annotator.objects.all_named([annotator]), Collection.objects.named(collection)
    gallery = open_gallery(found, None)
    counts = count_positives(gallery, found, matches)
    unsure = measure_uncertainty(measured, gallery, device=device, progress=progress)
    sides = {
        "images": multiplicity(unsure.images, counts[0]),
        "captions": multiplicity(unsure.captions, counts[1]),
    }
    figures = {"collection": collection, "annotator": annotator, "matches": matches}
    rows = [{"side": name, **vars(level)} for name, side in sides.items() for level in side.levels]
    return Findings(figures | {name: _figures(side) for name, side in sides.items()}, _text(sides), _chart(sides), rows)


def _figures(side: Multiplicity) -> dict[str, Any]:
    return {"tau_b": side.tau_b, "levels": [vars(level) for level in side.levels]}


def _text(sides: dict[str, Multiplicity]) -> str:
    return "\n\n".join(_table(name, side) for name, side in sides.items())


def _table(name: str, side: Multiplicity) -> str:
    lines = [f"{name}: tau-b of uncertainty with the number of matches {side.tau_b:.3f}"]
    lines.append(f"{'matches':>8}  {name:>8}  uncertainty")
    lines += [f"{level.positives:8,}  {level.items:8,}  {level.uncertainty:11.4f}" for level in side.levels[:ROWS]]
    if len(side.levels) > ROWS:
        lines.append(f"... and {len(side.levels) - ROWS} more levels; --json prints all.")
    return "\n".join(lines)


def _chart(sides: dict[str, Multiplicity]) -> Spec:
    panels = {
        f"{name} (tau-b {side.tau_b:.2f})": [vars(level) for level in side.levels] for name, side in sides.items()
    }
    return level_chart(
        "Uncertainty and matches",
        "Mean uncertainty by number of matches; a larger dot means more items.",
        panels,
        x="matches",
        y="uncertainty",
    )
