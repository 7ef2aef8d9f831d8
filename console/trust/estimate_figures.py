"""What the page of a round's estimates shows: scores with intervals, the looks, and what stopping now gives up."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.core.cache import cache

from core.errors import CounterpartError
from core.progress import Progress, silent
from counterpart_statistics.auditing.model_guards import example_guards
from counterpart_statistics.auditing.model_scores import WHICH, ModelDifference, ModelEstimate, percent
from counterpart_statistics.estimation import Question
from evaluation.analyses import plain
from evaluation.analyses.live_analysis import live_chart, state_text
from evaluation.auditing.estimate_boards import describe_limits
from evaluation.auditing.live_estimates import LiveEstimates, LiveParameters, measure_live
from evaluation.auditing.round_estimates import MACHINE_JUDGES, EstimateParameters, estimate_round, machine_judges
from evaluation.auditing.whole_queries import whole_queries
from hits.judge_designs import JudgeDesign
from hits.models import Round
from mitl.models import Direction

Figures = dict[str, Any]

LOOKS = LiveParameters()
KEPT = 24 * 60 * 60  # seconds
NO_LISTS = "No direction of the pool has lists of all its annotators, so there are no scores to estimate."


def estimate_figures(round_: Round, *, queries: Question = "these", progress: Progress = silent) -> Figures:
    """Return the figures of an audit at its looks, of another round once it is finished; before there is an
    estimate, the ``trouble`` alone. Intervals are for the question ``queries``."""
    return {"queries": queries, "which": WHICH[queries]} | _figures(round_, queries, progress)


def _figures(round_: Round, queries: Question, progress: Progress) -> Figures:
    if not round_.pool.retrievals.exists():
        return {"trouble": NO_LISTS}
    try:
        if JudgeDesign.from_json(round_.summary.get("judge")).judge == "audit":
            return _of_audit(_live(round_, queries, progress))
        found = estimate_round(round_, EstimateParameters(queries=queries), progress=progress)
    except CounterpartError as error:
        return {"trouble": str(error)}
    sides = [
        _scores(EstimateParameters().metrics, direction, found.models, found.differences) for direction in Direction
    ]
    sides = [side for side in sides if side]
    return {"sides": sides} if sides else {"trouble": NO_LISTS}


def _live(round_: Round, queries: Question, progress: Progress) -> LiveEstimates:
    """Return the audit at its looks; those that it reached before are kept, as each takes seconds to estimate."""
    key = f"looks-at-round:{round_.pk}:{queries}"
    live = measure_live(round_, replace(LOOKS, queries=queries), known=cache.get(key, ()), progress=progress)
    cache.set(key, live.looks, timeout=KEPT)
    return live


def _of_audit(live: LiveEstimates) -> Figures:
    if not live.looks:
        return {"trouble": " ".join(map(state_text, live.directions)) or NO_LISTS}
    sides = [
        _scores(live.metrics, side.direction, side.last.models, side.last.differences)
        for side in live.directions
        if side.last
    ]
    return {
        "sides": sides,
        "live": live,
        "states": list(map(state_text, live.directions)),
        "chart": live_chart(live),
        "judges": _judges(live),
        "examples": [
            f"{one.estimate.model}, {one.estimate.metric}, {Direction(one.estimate.direction).label}: {one}"
            for one in example_guards(live.guards)
        ],
        "guards": [plain(one.row()) | {"label": Direction(one.estimate.direction).label} for one in live.guards],
    }


def _scores(
    metrics: Sequence[str],
    direction: Direction,
    models: Sequence[ModelEstimate],
    differences: Sequence[ModelDifference],
) -> Figures:
    """Return the scores of one direction, a row a model with a cell a metric; empty if it was not pooled."""
    cells = {(one.model, one.metric): one for one in models if one.direction == direction}
    if not cells:
        return {}
    one = next(iter(cells.values()))
    return {
        "label": direction.label,
        "counted": one.counted,
        "estimand": one.estimate.estimand,
        "limits": describe_limits([one for one in models if one.direction == direction]),
        "has_intervals": one.has_interval,
        "level": percent(one.estimate.level),
        "judged": one.judged,
        "metrics": metrics,
        "rows": [
            {
                "model": model,
                "own_asked": cells[model, metrics[0]].own_asked,
                "estimates": [cells[model, metric].estimate for metric in metrics],
            }
            for model in dict.fromkeys(model for model, _ in cells)
        ],
        "unasked": {model: one.not_asked for (model, _), one in cells.items() if not one.own_asked},
        "steps": [one.turned for one in differences if one.direction == direction],
    }


def _judges(live: LiveEstimates) -> list[Figures]:
    """Return a row for each machine judge of the pool and direction, of the queries that are judged whole by now."""
    if not live.round.pool.retrievals.filter(annotator__kind__in=MACHINE_JUDGES).exists():
        return []  # without reading all again
    return [
        plain(one.row()) | {"label": Direction(one.direction).label}
        for whole in whole_queries(live.round)
        for one in machine_judges(whole, live.metrics[0])
    ]
