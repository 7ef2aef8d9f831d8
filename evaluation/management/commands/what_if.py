"""what_if ROUND: the cost and scores of a finished round under another policy, and its effect on model bias."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.commands import ActCommand
from core.progress import TerminalBar
from core.text import counted
from counterpart_statistics.auditing.replay_effects import ModelScores, Spread, effects_of
from evaluation.analyses import shown, text_table
from evaluation.designing.finished_rounds import FinishedRound
from evaluation.designing.what_if import SCORED, Replayed, WhatIfParameters, policy_row, savings_of, what_if
from hits.models import Round
from mitl.models import Direction

COLUMNS = {"queries": ",.0f", "judgments": ",.0f", "hits": ",.0f", "cost": ",.2f", "matches": ",.0f"}
"""The figures of a table of policies with their formats; shares follow."""
HEADS = ["policy", "whole queries", "judgments", "HITs", "dollars", "matches", "recall", "estimated", "95% interval"]


class Command(ActCommand):
    step = "round"
    help = (
        "Replay a finished round of all pairs under another policy of selection, replication or aggregation: what is "
        "asked, what it costs, which matches are found, and how far the scores and the order of models are from those "
        "of the round as it was run. Without --judge, all policies side by side. Nothing is written."
    )
    figures = True
    parameters = WhatIfParameters

    def act(self, progress: TerminalBar, *, parameters: WhatIfParameters, **options: Any) -> str | dict[str, Any]:
        round = Round.objects.select_related("pool__collection").named(parameters.round)
        finished = FinishedRound.of(round, progress=progress)
        found = what_if(finished, parameters, progress=progress)
        if options["json"]:
            return {
                "round": round.name,
                "as_run": {name: getattr(finished, name) for name in ("judgments", "hits", "cost")}
                | {"matches": len(finished.matches)},
                **{name: value for name, value in parameters.as_json().items() if name not in ("round", "judge")},
                "policies": [policy_row(judge, replays) for judge, replays in found.items()],
            }
        return "\n".join(_lines(finished, found, parameters))


def _lines(finished: FinishedRound, found: Mapping[str, Sequence[Replayed]], given: WhatIfParameters) -> Iterator[str]:
    matches = counted(len(finished.matches), "match", "matches")
    yield (
        f"Round {finished.round} as it was run: {counted(finished.judgments, 'judgment')} in "
        f"{counted(finished.hits, 'HIT')} for ${finished.cost:,.2f}, which found {matches}."
    )
    votes = counted(given.replication or finished.round.replication, "vote")
    yield (
        f"Replayed with {votes} a pair, counted by {given.aggregation}. Where queries or votes are drawn, a figure is "
        f"the mean of {counted(given.replays, 'replay')} from seed {given.seed}, with the least and the greatest."
    )
    yield ""
    yield text_table(HEADS, [_savings(judge, replays) for judge, replays in found.items()])
    yield "Recall: of the matches of the round as run. Estimated: what the audit says of it, with the mean interval."
    yield ""
    yield (
        "Scores compared with the round as it was run: tau-b of the order of the models, bias (mean deviation of a "
        "score) and centred bias (without the deviation that all models share)."
    )
    metrics = SCORED if given.judge else SCORED[:1]
    rows = [row for judge, replays in found.items() for row in _effects(judge, replays, metrics)]
    yield text_table(["policy", "metric", "direction", "scores", "tau-b", "bias", "centred"], rows, left=4)
    if not given.judge:
        yield "--json has the other metrics too; --judge POLICY shows them, and each model's scores."
        return
    yield ""
    yield f"Scores at seed {given.seed}; the intervals are of what judging all of these queries would say:"
    heads = ["model", "metric", "direction", "as run", "counted", "guarded", "estimated", "95% interval"]
    yield text_table(heads, [_model(one) for one in found[given.judge][0].scores], left=3)


def _savings(judge: str, replays: Sequence[Replayed]) -> list[str]:
    spreads = savings_of(replays)
    shares = [_cell(spreads[name], ".1%") for name in ("recall", "estimated_recall")]
    ends = [shown(spreads[name].mean, ".1%") for name in ("recall_low", "recall_high")]
    interval = " to ".join(ends) if replays[0].estimated else shown(None, "")
    return [judge, *(_cell(spreads[name], form) for name, form in COLUMNS.items()), *shares, interval]


def _effects(judge: str, replays: Sequence[Replayed], metrics: Sequence[str]) -> Iterator[list[str]]:
    for one in effects_of([one.scores for one in replays]):
        if one.metric in metrics:
            cells = [_cell(one.tau, ".2f"), _cell(one.bias, ".4f"), _cell(one.centred, ".4f")]
            yield [judge, one.metric, Direction(one.direction).label, one.kind, *cells]


def _model(one: ModelScores) -> list[str]:
    estimate = one.estimated.estimate if one.estimated else None
    guarded = one.guarded.guarded if one.guarded else None
    values = [one.full, one.counted, guarded, estimate.value if estimate else None]
    interval = f"{estimate.low:.3f} to {estimate.high:.3f}" if estimate and estimate.error else "-"
    return [one.model, one.metric, Direction(one.direction).label, *(shown(value, ".3f") for value in values), interval]


def _cell(spread: Spread, form: str) -> str:
    mean, low, high = (shown(value, form) for value in (spread.mean, spread.low, spread.high))
    return mean if low == high else f"{mean} ({low} to {high})"
