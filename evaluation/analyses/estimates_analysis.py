"""Scores of a round's models with intervals, from the queries that were judged whole: counted or estimated."""

from collections.abc import Sequence
from typing import Annotated, Any

from core.parameters import POSITIONAL
from core.progress import Progress
from core.text import counted
from counterpart_statistics.auditing.model_guards import ModelGuard, example_guards, model_guards
from counterpart_statistics.auditing.model_scores import WHICH, ModelEstimate, Width, percent
from counterpart_statistics.auditing.proxy_judges import MachineJudge
from evaluation.analyses import Findings, cells, interval_text, plain, text_table
from evaluation.auditing.estimate_boards import describe_limits
from evaluation.auditing.round_estimates import (
    EstimateParameters,
    RoundEstimates,
    machine_judges,
    queries_for,
    scores_of,
)
from evaluation.scores.boards import QUERIES
from hits.models import Round
from mitl.charts.bars import interval_chart
from mitl.charts.drawing import Chart
from mitl.models import Direction

NEIGHBOURS = (
    "Neighbours in the order of their values. Whether the intervals of two models overlap does not decide their order; "
    "that of their difference does:"
)


class EstimatesParameters(EstimateParameters):
    round: Annotated[str, "name of the round", POSITIONAL]


def analyse(parameters: EstimatesParameters, *, progress: Progress) -> Findings:
    """Estimate the round's models. Raises CounterpartError as ``estimate_round`` does."""
    round = Round.objects.select_related("pool__collection").named(parameters.round)
    figures: dict[str, list[Any]] = {name: [] for name in ("estimates", "differences", "judges", "guards")}
    sides: list[Sequence[ModelEstimate]] = []
    texts: list[str] = []
    said: list[str] = []
    for whole in queries_for(round, parameters, progress=progress):
        progress("estimating", 0, None)
        found = scores_of(whole, parameters)
        guards = model_guards(whole, found.models)
        judges = machine_judges(whole, parameters.metrics[0])
        sides.append(found.models)
        texts.append(_text(found, judges, guards))
        said += [*_about(found), *_answers(found)]
        rows: tuple[Sequence[Any], ...] = (found.models, found.differences, judges, guards)
        for kept, side in zip(figures.values(), rows, strict=True):
            kept += plain([one.row() for one in side])
    chart = _chart(round, sides, parameters.metrics)
    return Findings({"round": round.name, **figures}, "\n\n".join(texts), chart, figures["estimates"], said)


def _chart(round: Round, sides: Sequence[Sequence[ModelEstimate]], metrics: Sequence[str]) -> Chart:
    """Draw the intervals of the models, a panel for each metric of each direction."""
    panels = {
        f"{metric}, {Direction(side[0].direction).label}": [
            {"name": one.model, "value": one.estimate.value, "low": one.estimate.low, "high": one.estimate.high}
            for one in side
            if one.metric == metric
        ]
        for side in sides
        for metric in metrics
    }
    queries = " and ".join(counted(side[0].estimate.n_audited, QUERIES[Direction(side[0].direction)]) for side in sides)
    first = sides[0][0]
    kind = "Counted" if first.counted else "Estimated"
    subtitle = f"{kind} from {queries}; {percent(first.estimate.level)} intervals for {WHICH[first.estimate.question]}"
    return interval_chart(f"Scores of models in round {round}", subtitle, panels, "score")


def _source(one: ModelEstimate) -> str:
    kind = "counted" if one.counted else "estimated"
    return f"{kind} of the {one.estimate.estimand}, {one.judged:.0%} of the pairs judged"


def _about(found: RoundEstimates) -> list[str]:
    """Say what the scores of a direction rest on."""
    one = found.models[0]
    return [f"{Direction(one.direction).label}: {_source(one)}.", *describe_limits(found.models)]


def _answers(found: RoundEstimates) -> list[str]:
    """Say of neighbours in the ranking whether one is above the other."""
    return [f"{step.metric}: {step}" for step in found.differences]


def _text(found: RoundEstimates, judges: Sequence[MachineJudge], guards: Sequence[ModelGuard]) -> str:
    parts = [
        "\n".join([*_about(found), scores_table(found.models)]),
        "\n".join([NEIGHBOURS, *_answers(found)]) if found.differences else "",
        _judges_text(judges) if judges else "",
        _guards_text(guards) if guards else "",
    ]
    return "\n\n".join(filter(None, parts))


def scores_table(models: Sequence[ModelEstimate], widths: Sequence[Width] = ()) -> str:
    """Return the scores of one direction with their intervals and perhaps the widths of these; models whose first items
    were not asked are marked, with a sentence below."""
    cells = [
        [
            one.model if one.own_asked else f"{one.model} *",
            one.metric,
            f"{one.estimate.value:.3f}",
            interval_text(one.estimate) if one.has_interval else "counted",
        ]
        for one in models
    ]
    cells = [[*row, f"{one.now:.3f}", f"{one.finished:.3f}"] for row, one in zip(cells, widths, strict=False)] or cells
    heads = ["model", "metric", "value", f"{percent(models[0].estimate.level)} interval", "width", "finished"]
    not_asked = dict.fromkeys(f"* {one.not_asked}" for one in models if not one.own_asked)
    return "\n".join([text_table(heads[: len(cells[0])], cells, left=2), *not_asked])


def _guards_text(guards: Sequence[ModelGuard]) -> str:
    """Say what the scores that a version of the round counts are worth."""
    head = (
        "Scores as a version of the round counts them, with unjudged pairs as no matches, and guarded: moved towards "
        "the estimates as far as the audit can show that the two differ. The intervals are for these queries."
    )
    rows = [
        [*cells(one.estimate, model="", metric=""), *cells(one, counted=".3f", guarded=".3f"), interval_text(one)]
        for one in guards
    ]
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
    forms = {"annotator": "", "kind": "", "scored": ",", "auc": ".3f", "quality": ".3f", "quality_without": ".3f"}
    forms |= {"share_of_gain": ".0%", "width": ".2f", "width_without": ".2f"}
    return f"{head}\n{text_table(heads, [cells(judge, **forms) for judge in judges], left=2)}"
