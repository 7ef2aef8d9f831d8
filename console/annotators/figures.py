"""The training of an annotator and the calibration of its scores, as its page shows them."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef

from annotation.money.wages import was_played
from annotation.work.judgments import votes_in
from console.charts.plots import MeasuredChart, Rows, stored_chart
from counterpart_annotators.training.learners import in_order
from evaluation.analyses.calibration_analysis import ALL
from hits.judge_designs import JudgeDesign
from hits.models import Round
from hits.task_types import ON_PAIRS
from mitl.charts.drawing import Chart
from mitl.charts.lines import curve_chart
from mitl.models import Annotator, Direction


@dataclass(frozen=True)
class Training:
    """The finished epochs of an annotator's newest training; ``of`` is the maximum number of epochs."""

    epochs: list[dict[str, Any]]
    of: int
    under_way: bool

    @property
    def chart(self) -> Chart:
        """The loss and what was measured on the validation split, over the epochs."""
        return curve_chart("Training", self.epochs)

    @property
    def newest(self) -> dict[str, Any] | None:
        """The last finished epoch."""
        return self.epochs[-1] if self.epochs else None


def training_of(annotator: Annotator) -> Training:
    """Return the state of the training. An interrupted one counts as under way until it is started again."""
    epochs = [{**epoch, "validation": in_order(epoch["validation"])} for epoch in annotator.curve]
    finished = bool(epochs) and annotator.trained_on.get("loss_last") == round(epochs[-1]["loss"], 4)
    return Training(epochs, int(annotator.options.get("epochs", 0)), bool(epochs) and not finished)


SUBJECT = "calibration"
NEWEST = 20  # rounds that are searched


@dataclass(frozen=True)
class CalibrationFigures:
    """The round; its chart as it was made last, None before it was; and whether programs gave some of the answers."""

    annotator: Annotator
    round: Round
    chart: MeasuredChart | None
    simulated: bool

    @property
    def rows(self) -> Rows:
        """The scores of this annotator and of all of the pool, in each direction."""
        rows = self.chart.rows if self.chart else ()
        return [
            {**row, "label": Direction(row["direction"]).label}
            for row in rows
            if row["annotator"] in (self.annotator.name, ALL)
        ]


def calibration_figures(annotator: Annotator) -> CalibrationFigures | None:
    """Return the figures of the newest judged round of a pool that holds the annotator; None without one. Rounds of
    first hits judge no query completely, and do not count."""
    votes = votes_in(OuterRef("pk"))
    rounds = Round.objects.filter(Exists(votes), pool__retrievals__annotator=annotator, task__in=ON_PAIRS)
    for round in rounds.select_related("pool").order_by("-pk")[:NEWEST]:
        if JudgeDesign.from_json(round.summary.get("judge")).judge != "first-hits":
            return CalibrationFigures(annotator, round, stored_chart(round, SUBJECT, ""), was_played(round))
    return None
