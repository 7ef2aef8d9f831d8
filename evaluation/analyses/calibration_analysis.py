"""How far the probabilities of a round's pairs hold, of each annotator and of all: Brier scores, reliability."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from core.errors import CounterpartError
from core.parameters import POSITIONAL, Parameters
from core.progress import Progress
from core.text import counted
from counterpart_statistics.estimation import Calibration, calibration_of
from counterpart_statistics.estimation.calibration import Bin
from counterpart_statistics.selection.pooled_queries import WholeQueries
from evaluation.analyses import Findings, cells, plain, text_table
from evaluation.auditing.whole_queries import whole_queries
from hits.models import Round
from mitl.charts.drawing import Chart, Key
from mitl.charts.lines import Line, Plane, Point, coloured, diagonal, line_panel
from mitl.charts.scales import shares
from mitl.models import Direction

ALL = "all annotators"
FEW = 60  # queries
FORMS = {"pairs": ",", "matches": ".1%"} | dict.fromkeys(
    ("brier", "skill", "error", "level_brier", "level_skill"), ".3f"
)
NOTE = (
    "Each query's probabilities are learned from the verdicts on other images. Brier: of a match, level 1 or 2.\n"
    "Skill: 1 is perfect, 0 says no more than the share of matches does. Error: the expected calibration error, the\n"
    "mean distance of predicted and observed over tenths of the pairs."
)


class CalibrationParameters(Parameters):
    round: Annotated[str, "name of the round", POSITIONAL]
    merge: Annotated[str, "match sources that count without a judgment, as release merges them"] = "original"


@dataclass(frozen=True)
class Calibrated:
    """The calibration of one annotator, or of ALL, in one direction."""

    direction: Direction
    annotator: str
    queries: int
    found: Calibration

    def row(self) -> dict[str, Any]:
        one = self.found
        return {
            "direction": self.direction.value,
            "annotator": self.annotator,
            "queries": self.queries,
            "pairs": one.pairs,
            "matches": one.matches,
            "brier": one.brier,
            "skill": one.skill,
            "error": one.error,
            "brier_levels": one.level_brier,
            "skill_levels": one.level_skill,
            "brier_at_most_1": one.briers[0],
            "brier_at_most_3": one.briers[2],
        }


def analyse(parameters: CalibrationParameters, *, progress: Progress) -> Findings:
    """Compare the probabilities with the verdicts of queries that were judged whole: pairs that were opened by their
    probability are no fair sample of the pairs, and only teach.

    Raises CounterpartError as ``whole_queries`` does, and for a round whose judged queries have no pair to ask.
    """
    round = Round.objects.select_related("pool__collection").named(parameters.round)
    found: list[Calibrated] = []
    for whole in whole_queries(round, merge=parameters.merge, progress=progress):
        progress(f"calibrating {Direction(whole.direction).label}", 0, None)
        found += _calibrated(whole)
    if not found:
        raise CounterpartError(
            f"Round {round} has no judged query with a pair to ask in a direction that all annotators of pool "
            f"{round.pool} rank, so there are no probabilities to compare. Retrieve and pool again."
        )
    rows = [one.row() for one in found]
    bins = [
        {"direction": one.direction.value, "annotator": one.annotator, **asdict(each)}
        for one in found
        for each in one.found.bins
    ]
    figures = {"round": round.name, "calibration": plain(rows), "bins": bins}
    return Findings(figures, _text(found), _chart(round, found), rows)


def _calibrated(whole: WholeQueries) -> Iterator[Calibrated]:
    queries = whole.queries
    pairs = queries.asked & whole.audited[:, None]
    if not pairs.any():
        return
    names = queries.models[: len(queries.scores)]
    left_out = {ALL: set[str](), **{name: {*names} - {name} for name in names}}
    for annotator, without in left_out.items():
        thresholds = whole.level_thresholds((1, 2, 3), without=without)
        found = calibration_of(thresholds[pairs], queries.levels[pairs])
        yield Calibrated(Direction(whole.direction), annotator, int(whole.audited.sum()), found)


def _text(found: Sequence[Calibrated]) -> str:
    parts = [NOTE]
    heads = ["annotator", "pairs", "matches", "Brier", "skill", "error", "Brier of levels", "skill of levels"]
    for direction in dict.fromkeys(one.direction for one in found):
        side = [one for one in found if one.direction == direction]
        queries = side[0].queries
        head = f"{direction.label}: {counted(queries, 'query', 'queries')} judged whole."
        if queries < FEW:
            head += f" They are few: {FEW} would be enough."
        lines = [[one.annotator, *cells(one.found, **FORMS)] for one in side]
        parts.append(f"{head}\n{text_table(heads, lines)}")
    return "\n\n".join(parts)


def _chart(round: Round, found: Sequence[Calibrated]) -> Chart:
    """Draw the reliability diagrams, a panel an annotator with a line a direction, and the diagonal."""
    colours = coloured([one.direction.label for one in found])
    plane = Plane(shares(), shares(), height=260)
    panels: dict[str, list[Line]] = {}
    for one in found:
        label = one.direction.label
        points = [
            Point(each.predicted, each.observed, each.low, each.high, _tip(label, each)) for each in one.found.bins
        ]
        panels.setdefault(one.annotator, []).append(Line(label, points, colours[label]))
    return Chart(
        f"Calibration in round {round}",
        "Share of matches in tenths of the pairs, with 95% intervals; on the diagonal, as predicted",
        [
            line_panel(name, lines, plane, "predicted", "matches", names=False, behind=diagonal(plane))
            for name, lines in panels.items()
        ],
        [Key(colour, label) for label, colour in colours.items()],
    )


def _tip(label: str, one: Bin) -> str:
    return f"{label}: {one.predicted:.0%} predicted, {one.observed:.0%} observed ({one.low:.0%} to {one.high:.0%})"
