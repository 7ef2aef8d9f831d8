"""Scores of a round's models from the queries that were judged whole, with their intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from core.parameters import POSITIONAL
from core.progress import Progress
from core.text import counted
from counterpart_statistics.auditing.model_guards import ModelGuard, example_guards, model_guards
from counterpart_statistics.auditing.model_scores import (
    WHICH,
    ModelDifference,
    ModelEstimate,
    model_differences,
    model_estimates,
    percent,
)
from counterpart_statistics.auditing.proxy_judges import MachineJudge
from evaluation.analyses import Findings, plain, shown, text_table
from evaluation.auditing.estimate_boards import describe_limits
from evaluation.auditing.round_estimates import EstimateParameters, machine_judges, queries_for
from hits.models import Round
from mitl.charts.drawing import Spec
from mitl.charts.lines import interval_chart
from mitl.models import Direction

NEIGHBOURS = (
    "Neighbours in the order of their values. Whether the intervals of two models overlap does not decide their order; "
    "that of their difference does:"
)
HELP = "Scores of a round's models with intervals, from the queries that were judged whole: counted or estimated."


@dataclass(frozen=True, kw_only=True)
class EstimatesParameters(EstimateParameters):
    round: Annotated[str, "name of the round", POSITIONAL]


def analyse(parameters: EstimatesParameters, *, progress: Progress) -> Findings:
    """Estimate the round's models. Raises CounterpartError as ``estimate_round`` does."""
    round = Round.objects.select_related("pool__collection").named(parameters.round)
    found: list[ModelEstimate] = []
    differences: list[ModelDifference] = []
    judges: list[MachineJudge] = []
    guards: list[ModelGuard] = []
    for whole in queries_for(round, parameters, progress=progress):
        progress("estimating", 0, None)
        asked = (whole, parameters.metrics, parameters.level)
        estimates = model_estimates(*asked, queries=parameters.queries)
        found += estimates
        guards += model_guards(whole, estimates)
        differences += model_differences(*asked, queries=parameters.queries)
        judges += machine_judges(whole, parameters.metrics[0])
    rows = [one.row() for one in found]
    sides = {direction: [one for one in found if one.direction == direction] for direction in Direction}
    text = "\n\n".join(
        _text(
            side,
            [one for one in differences if one.direction == direction],
            [one for one in judges if one.direction == direction],
            [one for one in guards if one.estimate.direction == direction],
        )
        for direction, side in sides.items()
        if side
    )
    figures = {
        "round": round.name,
        "estimates": rows,
        "differences": [one.row() for one in differences],
        "judges": plain([one.row() for one in judges]),
        "guards": plain([one.row() for one in guards]),
    }
    return Findings(figures, text, _chart(round, sides, parameters.metrics), rows)


def _chart(round: Round, sides: Mapping[Direction, Sequence[ModelEstimate]], metrics: Sequence[str]) -> Spec:
    """Draw the intervals of the models, a panel for each metric of each direction."""
    panels = {
        f"{metric}, {direction.label}": [
            {"name": one.model, "value": one.estimate.value, "low": one.estimate.low, "high": one.estimate.high}
            for one in side
            if one.metric == metric
        ]
        for direction, side in sides.items()
        if side
        for metric in metrics
    }
    queries = " and ".join(
        counted(side[0].estimate.n_audited, "image" if direction == Direction.IMAGE_TO_CAPTION else "caption")
        for direction, side in sides.items()
        if side
    )
    first = next(side[0] for side in sides.values() if side)
    kind = "Counted" if first.counted else "Estimated"
    subtitle = f"{kind} from {queries}; {percent(first.estimate.level)} intervals for {WHICH[first.estimate.question]}"
    return interval_chart(f"Scores of models in round {round}", subtitle, panels, "score")


def _source(one: ModelEstimate) -> str:
    kind = "counted" if one.counted else "estimated"
    return f"{kind} of the {one.estimate.estimand}, {one.judged:.0%} of the pairs judged"


def _text(
    rows: Sequence[ModelEstimate],
    differences: Sequence[ModelDifference],
    judges: Sequence[MachineJudge],
    guards: Sequence[ModelGuard],
) -> str:
    one = rows[0]
    lines = [f"{Direction(one.direction).label}: {_source(one)}.", *describe_limits(rows)]
    figures = [
        [
            row.model if row.own_asked else f"{row.model} *",
            row.metric,
            f"{row.estimate.value:.3f}",
            f"{row.estimate.low:.3f} to {row.estimate.high:.3f}" if row.has_interval else "counted",
        ]
        for row in rows
    ]
    table = text_table(["model", "metric", "value", f"{percent(one.estimate.level)} interval"], figures, left=2)
    not_asked = [f"* {sentence}" for sentence in dict.fromkeys(row.not_asked for row in rows) if sentence]
    parts = [
        "\n".join([*lines, table, *not_asked]),
        "\n".join([NEIGHBOURS, *(f"{step.metric}: {step}" for step in differences)]) if differences else "",
        _judges_text(judges) if judges else "",
        _guards_text(guards) if guards else "",
    ]
    return "\n\n".join(filter(None, parts))


def _guards_text(guards: Sequence[ModelGuard]) -> str:
    """Say what the scores that a version of the round counts are worth."""
    head = (
        "Scores as a version of the round counts them, with unjudged pairs as no matches, and guarded: moved towards "
        "the estimates as far as the audit can show that the two differ. The intervals are for these queries."
    )
    rows = [
        [one.estimate.model, one.estimate.metric, *(shown(value, ".3f") for value in (one.counted, one.guarded)),
         f"{one.low:.3f} to {one.high:.3f}"]
        for one in guards
    ]  # fmt: skip
    table = text_table(["model", "metric", "counted", "guarded", "interval"], rows, left=2)
    examples = (f"{one.estimate.model}, {one.estimate.metric}: {one}" for one in example_guards(guards))
    return "\n".join([head, table, *examples])


def _judges_text(judges: Sequence[MachineJudge]) -> str:
    """Return what each annotator's scores brought to the estimates of one direction."""
    one = judges[0]
    head = (
        f"What machine judges bring to the estimates of {one.metric}, never as labels. AUC of "
        f"their scores on {counted(one.pairs, 'judged pair')}; rho2 of the metric with its proxy; width of an interval "
        "by that of the round of all pairs."
    )
    heads = ["annotator", "kind", "scored", "AUC", "rho2", "without it", "share", "width", "without it"]
    table = [
        [
            judge.annotator,
            judge.kind,
            f"{judge.scored:,}",
            shown(judge.auc, ".3f"),
            shown(judge.quality, ".3f"),
            shown(judge.quality_without, ".3f"),
            shown(judge.share_of_gain, ".0%"),
            shown(judge.width, ".2f"),
            shown(judge.width_without, ".2f"),
        ]
        for judge in judges
    ]
    return f"{head}\n{text_table(heads, table, left=2)}"
