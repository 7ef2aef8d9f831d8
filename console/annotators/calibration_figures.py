"""The calibration of an annotator's scores, for its page: from the chart of its newest judged round."""

from dataclasses import dataclass

from django.db.models import Exists, OuterRef
from django.utils.safestring import SafeString

from annotation.money.wages import was_played
from annotation.work.judgments import votes_in
from console.charts.measured_charts import MeasuredChart, stored_chart
from console.charts.plots import PLOTS, Rows, on_page
from evaluation.analyses.calibration_analysis import ALL
from hits.judge_designs import JudgeDesign
from hits.models import Round
from hits.task_types import ON_PAIRS
from mitl.models import Annotator, Direction

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
    def svg(self) -> SafeString:
        """The reliability diagrams, for the page."""
        if self.chart is None:
            return SafeString()
        return on_page(self.chart.svg, f"{PLOTS[SUBJECT].title}: {PLOTS[SUBJECT].description}")

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
