"""Whether a machine is unsure of the items that have many matches: ECCV Caption, figure 3b."""

from typing import Any

from django.core.management.base import CommandParser

from core.progress import Progress
from corpus.models import Collection, Match
from evaluation.analyses import Findings
from mitl.charts import Spec, level_chart
from mitl.gallery import open_gallery
from mitl.multiplicity import Multiplicity, multiplicity
from mitl.naming import find_annotators
from mitl.uncertainty import count_positives, measure_uncertainty

HELP = "Whether a probabilistic machine (pcme) is less sure of the items that have more matches (figure 3b)."
ROWS = 12  # levels that the terminal shows


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument("collection", metavar="COLLECTION", help="whose gallery is looked at")
    parser.add_argument("--annotator", required=True, metavar="A", help="a machine that knows how unsure it is (pcme)")
    parser.add_argument(
        "--matches",
        default=Match.ORIGINAL,
        metavar="SOURCE",
        help="whose matches count: original, or a released version; of levels, 1 and 2 (default original)",
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where the machine works")


def analyse(
    *, progress: Progress, collection: str, annotator: str, matches: str, device: str, **options: object
) -> Findings:
    """Measure the gallery, and hold it against its matches.

    Raises CounterpartError for a machine that is equally sure of everything, or a source that nobody knows.
    """
    machine, found = find_annotators([annotator])[0], Collection.objects.named(collection)
    gallery = open_gallery(found, None)
    counts = count_positives(gallery, found, matches)
    unsure = measure_uncertainty(machine, gallery, device=device, progress=progress)
    sides = {
        "images": multiplicity(unsure.images, counts[0]),
        "captions": multiplicity(unsure.captions, counts[1]),
    }
    figures = {"collection": collection, "annotator": annotator, "matches": matches}
    return Findings(figures | {name: _figures(side) for name, side in sides.items()}, _text(sides), _chart(sides))


def _figures(side: Multiplicity) -> dict[str, Any]:
    return {"tau_b": side.tau_b, "levels": [vars(level) for level in side.levels]}


def _text(sides: dict[str, Multiplicity]) -> str:
    return "\n\n".join(_table(name, side) for name, side in sides.items())


def _table(name: str, side: Multiplicity) -> str:
    lines = [f"{name}: tau-b of uncertainty with the number of matches {side.tau_b:.3f}"]
    lines.append(f"{'matches':>8}  {name:>8}  uncertainty")
    lines += [f"{level.positives:8,}  {level.items:8,}  {level.uncertainty:11.4f}" for level in side.levels[:ROWS]]
    if len(side.levels) > ROWS:
        lines.append(f"... and {len(side.levels) - ROWS} levels more; --json has them all.")
    return "\n".join(lines)


def _chart(sides: dict[str, Multiplicity]) -> Spec:
    panels = {
        f"{name} (tau-b {side.tau_b:.2f})": [vars(level) for level in side.levels] for name, side in sides.items()
    }
    return level_chart(
        "Uncertainty and matches",
        "Mean uncertainty of the items that have so many matches; the larger a dot, the more items.",
        panels,
        x="matches",
        y="uncertainty",
    )
