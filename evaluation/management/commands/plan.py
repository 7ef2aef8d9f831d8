from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.errors import CounterpartError
from core.progress import TerminalBar
from core.text import counted
from counterpart_statistics.auditing.audit_designs import AuditDesign, front_of
from counterpart_statistics.auditing.model_scores import WHICH
from counterpart_statistics.auditing.plan_basis import DirectionBasis
from counterpart_statistics.auditing.replay_effects import ModelScores, Spread, effects_of
from evaluation.analyses import shown, text_table
from evaluation.designing.audit_options import AuditOptions
from evaluation.designing.compared_designs import ComparedDesigns, matches_text
from evaluation.designing.finished_rounds import FinishedRound
from evaluation.designing.predictions import keep_for
from evaluation.designing.round_bases import basis_of, is_judged, planned_round
from evaluation.designing.what_if import SCORED, Replayed, WhatIfParameters, policy_row, savings_of, what_if
from hits.models import Round
from mitl.models import Direction

HEADS = ["design", "judgments", "queries", "HITs", "cost", "hours", "matches", "a match", "width", ""]
PARTS = (0.5, 0.8, 0.9, 0.95)
"""Parts of the matches whose judgments are shown."""
COLUMNS = {"queries": ",.0f", "judgments": ",.0f", "hits": ",.0f", "cost": ",.2f", "matches": ",.0f"}
"""The figures of a table of replayed policies with their formats; shares follow."""
REPLAYED = ["policy", "whole queries", "judgments", "HITs", "dollars", "matches", "recall", "estimated", "95% interval"]


class Command(ActCommand):
    step = "round"
    help = (
        "Compare designs before paying: HITs, cost, hours, matches and the width of the intervals of each. They rest "
        "on the judgments of a round; for a pool or an unjudged round, on priors. Of a round whose prediction was "
        "kept, the prediction is printed next to the real figures. With --replay, a finished round of all pairs is "
        "replayed under other policies of selection, replication or aggregation: what is asked, what it costs, which "
        "matches are found, and how far scores and the order of models are from those of the round as it was run; "
        "without --judge, all policies side by side. Nothing is written."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="a round, as the pilot: an audit, or a finished round of all pairs; or a pool")
        parser.add_argument(
            "--keep", metavar="ROUND", help="keep the prediction for this round, which is not judged yet"
        )
        super().add_arguments(parser)
        replay = parser.add_argument_group("replay")
        replay.add_argument("--replay", action="store_true", help="replay a finished round; with it only the following")
        WhatIfParameters.add_options(replay)

    def act(self, progress: TerminalBar, *, parameters: AuditOptions, **options: Any) -> str | dict[str, Any]:
        policy = WhatIfParameters.from_options(options)
        wrong = (parameters.as_options() or options["keep"] and "--keep") if options["replay"] else policy.as_options()
        if wrong:
            raise CounterpartError(f"Leave out {wrong}, or {'--replay' if options['replay'] else 'add --replay'}.")
        if options["replay"]:
            found = Round.objects.select_related("pool__collection").named(options["name"])
            return _replayed(FinishedRound.of(found, progress=progress), policy, options["json"], progress)
        round = planned_round(options["name"])
        kept = Round.objects.select_related("pool").named(options["keep"]) if options["keep"] else None
        basis = basis_of(round, parameters.prior, merge=parameters.merge, progress=progress)
        compared = ComparedDesigns(round, basis, parameters)
        if parameters.width and compared.cheapest is None:
            raise CounterpartError(
                f"No design of the grid reaches a width of {parameters.width:g}; the least is "
                f"{compared.least_width:.3f}. Wish for a wider interval; --grid compares more designs."
            )
        if kept:
            keep_for(kept, basis, actor="command")
        if options["json"]:
            return _figures(compared)
        lines = [*_basis_lines(compared), *_design_lines(compared), *_real_lines(compared)]
        return "\n".join([*lines, *([f"The prediction is kept with round {kept}."] if kept else [])])


def _figures(compared: ComparedDesigns) -> dict[str, Any]:
    basis = compared.basis
    sides = {
        name: {"pairs": side.outlook.pairs, "yes": side.yes, "curve": side.curve, "no_curve": side.no_curve}
        for name, side in basis.sides.items()
    }
    matches = {name: one for name, one in basis.interval.row().items() if "recall" not in name}
    return {
        "pilot": None if basis.prior else compared.round.name,
        "pool": compared.round.pool.name,
        "basis": str(basis),
        **({"prior": asdict(basis.prior)} if basis.prior else {}),
        "minutes": compared.terms.seconds / 60,
        "wage": compared.terms.wage,
        **matches,
        "directions": sides,
        "designs": [one.row() for one in compared.designs],
        "first_hits": asdict(compared.first_hits),
        **({"cheapest": compared.cheapest.row()} if compared.cheapest else {}),
        **({"beside_real": [one.row() for one in compared.real]} if compared.real else {}),
    }


def _basis_lines(compared: ComparedDesigns) -> Iterator[str]:
    basis = compared.basis
    terms = compared.terms
    yield f"The plan rests on {basis}."
    judged = next(filter(is_judged, compared.round.pool.rounds.all()), None)
    if basis.prior and judged:
        yield f"Round {judged} of this pool is judged: `plan {judged}` rests on its judgments."
    yield (
        f"A HIT pays ${terms.reward} and takes {terms.seconds / 60:.1f} minutes, {terms.source}: ${terms.wage} an hour."
    )
    yield f"{matches_text(basis)} A pair of two queries counts once."
    for name, side in basis.sides.items():
        yield f"{Direction(name).label}: {side.outlook.pairs:,} pairs. {side.no_curve or _curve_text(side)}"


def _curve_text(side: DirectionBasis) -> str:
    """Return the share of the judgments that find the most probable half, and more, of the matches."""
    total = side.curve[-1][1]
    needed = [(part, next(share for share, found in side.curve if found >= part * total)) for part in PARTS]
    shares = ", ".join(f"{part:.0%} of them from {share:.0%}" for part, share in needed)
    return f"In the order of their probabilities: {shares} of the judgments."


def _design_lines(compared: ComparedDesigns) -> Iterator[str]:
    metric = compared.options.metric
    yield ""
    yield (
        f"Designs; widths are those of the widest 95% interval of {metric} for {WHICH[compared.options.queries]}, 0 "
        "where it is counted; * marks those that no other beats."
    )
    best = front_of(compared.designs, metric)
    yield text_table(HEADS, [[*_cells(one, metric), "*" if one in best else ""] for one in compared.designs])
    first = compared.first_hits
    yield (
        f"--judge first-hits asks {first.pairs:,} pairs in {first.hits:,} HITs for ${first.cost:,.2f}: R@1 of the "
        "pool's annotators as from all pairs, nothing else."
    )
    if compared.cheapest:
        yield ""
        yield "The cheapest that is narrow enough:"
        yield text_table(HEADS[:-1], [_cells(compared.cheapest, metric)])


def _cells(one: AuditDesign, metric: str) -> list[str]:
    return [
        one.design,
        f"{one.share:.0%}",
        f"× {one.spread:g}",
        f"{one.hits:,}",
        f"${one.cost:,.2f}",
        f"{one.hours:,.1f}",
        f"{one.matches:,.0f}",
        "-" if one.match_cost is None else f"${one.match_cost:,.2f}",
        f"{one.widest(metric):.3f}",
    ]


def _real_lines(compared: ComparedDesigns) -> Iterator[str]:
    if compared.real:
        yield ""
        rows = [[one.name, one.predicted_text, one.real_text] for one in compared.real]
        yield text_table(["Predicted and real", "predicted", "real"], rows)
    if compared.was_played:
        yield "Programs did some or all of the work: its hours and matches say nothing of people."


def _replayed(
    finished: FinishedRound, policy: WhatIfParameters, as_json: bool, progress: TerminalBar
) -> str | dict[str, Any]:
    found = what_if(finished, policy, progress=progress)
    if not as_json:
        return "\n".join(_replay_lines(finished, found, policy))
    return {
        "round": finished.round.name,
        "as_run": {name: getattr(finished, name) for name in ("judgments", "hits", "cost")}
        | {"matches": len(finished.matches)},
        **{name: value for name, value in policy.as_json().items() if name != "judge"},
        "policies": [policy_row(judge, replays) for judge, replays in found.items()],
    }


def _replay_lines(
    finished: FinishedRound, found: Mapping[str, Sequence[Replayed]], given: WhatIfParameters
) -> Iterator[str]:
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
    yield text_table(REPLAYED, [_saving_row(judge, replays) for judge, replays in found.items()])
    yield "Recall: of the matches of the round as run. Estimated: what the audit says of it, with the mean interval."
    yield ""
    yield (
        "Scores compared with the round as it was run: tau-b of the order of the models, bias (mean deviation of a "
        "score) and centred bias (without the deviation that all models share)."
    )
    metrics = SCORED if given.judge else SCORED[:1]
    rows = [row for judge, replays in found.items() for row in _effect_rows(judge, replays, metrics)]
    yield text_table(["policy", "metric", "direction", "scores", "tau-b", "bias", "centred"], rows, left=4)
    if not given.judge:
        yield "--json has the other metrics too; --judge POLICY shows them, and each model's scores."
        return
    yield ""
    yield f"Scores at seed {given.seed}; the intervals are of what judging all of these queries would say:"
    heads = ["model", "metric", "direction", "as run", "counted", "guarded", "estimated", "95% interval"]
    yield text_table(heads, [_model_row(one) for one in found[given.judge][0].scores], left=3)


def _saving_row(judge: str, replays: Sequence[Replayed]) -> list[str]:
    spreads = savings_of(replays)
    shares = [_spread(spreads[name], ".1%") for name in ("recall", "estimated_recall")]
    ends = [shown(spreads[name].mean, ".1%") for name in ("recall_low", "recall_high")]
    interval = " to ".join(ends) if replays[0].estimated else shown(None, "")
    return [judge, *(_spread(spreads[name], form) for name, form in COLUMNS.items()), *shares, interval]


def _effect_rows(judge: str, replays: Sequence[Replayed], metrics: Sequence[str]) -> Iterator[list[str]]:
    for one in effects_of([one.scores for one in replays]):
        if one.metric in metrics:
            cells = [_spread(one.tau, ".2f"), _spread(one.bias, ".4f"), _spread(one.centred, ".4f")]
            yield [judge, one.metric, Direction(one.direction).label, one.kind, *cells]


def _model_row(one: ModelScores) -> list[str]:
    estimate = one.estimated.estimate if one.estimated else None
    guarded = one.guarded.guarded if one.guarded else None
    values = [one.full, one.counted, guarded, estimate.value if estimate else None]
    interval = f"{estimate.low:.3f} to {estimate.high:.3f}" if estimate and estimate.error else "-"
    return [one.model, one.metric, Direction(one.direction).label, *(shown(value, ".3f") for value in values), interval]


def _spread(spread: Spread, form: str) -> str:
    mean, low, high = (shown(value, form) for value in (spread.mean, spread.low, spread.high))
    return mean if low == high else f"{mean} ({low} to {high})"
