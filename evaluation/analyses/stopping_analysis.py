"""Stopping: whether a round's judgments have settled the ranking of models, and where it could have stopped."""

from dataclasses import dataclass, fields
from typing import Annotated, Any

import numpy as np

from core.errors import CounterpartError
from core.parameters import POSITIONAL, Option
from core.progress import Progress
from core.text import counted
from evaluation.analyses import Findings, shown, text_table
from evaluation.live_effect import Effect, EffectParameters, Moment, measure_effect
from hits.models import Round
from mitl.charts.drawing import Chart
from mitl.charts.lines import line_chart

HELP = "Whether a round's judgments have settled the ranking of the models; where a finished round could have stopped."


@dataclass(frozen=True, kw_only=True)
class StoppingParameters(EffectParameters):
    name: Annotated[str, "an open or closed round", POSITIONAL, Option(metavar="ROUND")]
    check: Annotated[bool, "end with an error unless the ranking is settled"] = False


def analyse(parameters: StoppingParameters, *, progress: Progress) -> Findings:
    """Measure a round's live effect. Raises as ``measure_effect``, and with ``check`` unless the ranking is settled."""
    effect = measure_effect(Round.objects.named(parameters.name), parameters, progress=progress)
    if parameters.check and not effect.is_settled:
        raise CounterpartError(_verdict(effect))
    return Findings(_figures(effect), _text(effect), _chart(effect), _rows(effect))


def _figures(effect: Effect) -> dict[str, Any]:
    settings = effect.settings
    saving = effect.saving
    stop = effect.settled_at
    return {
        "round": effect.round.name,
        "settings": {one.name: getattr(settings, one.name) for one in fields(EffectParameters)},
        "settled": effect.is_settled,
        "settled_after_hits": stop.look.hits if stop else None,
        "settled_at": stop.at.isoformat() if stop else None,
        "hits": effect.units,
        "hits_counted": effect.last.look.hits if effect.last else 0,
        "hits_waiting": effect.waiting,
        "open": [list(pair) for pair in effect.open_places()],
        "ties": [list(pair) for pair in effect.ties()],
        "saved": {"hits": saving.hits, "answer_sets": saving.answer_sets, "dollars": str(saving.dollars)}
        if saving
        else None,
        "unpooled": dict(zip(effect.models, effect.unpooled.tolist(), strict=True)),
        "looks": [_look(moment) for moment in effect.looks],
    }


def _look(moment: Moment) -> dict[str, Any]:
    return {
        "hits": moment.look.hits,
        "at": moment.at.isoformat(),
        "settled": moment.is_settled,
        "tau": moment.tau,
        "models": moment.scores,
    }


def _verdict(effect: Effect) -> str:
    """Say in a sentence whether the ranking is settled."""
    if effect.last is None:
        return f"The ranking of round {effect.round} is open: HIT 1 is not judged."
    wanted = f"first {effect.settings.places} places of the ranking" if effect.settings.places else "ranking"
    if stop := effect.settled_at:
        ties = ", ".join(f"{one} = {other}" for one, other in effect.ties())
        return (
            f"The {wanted} of round {effect.round} is settled since HIT {stop.look.hits:,} of {effect.units:,}"
            f"{f', with ties: {ties}' if ties else ''}."
        )
    unclear = ", ".join(f"{one} or {other}" for one, other in effect.open_places())
    return f"The {wanted} of round {effect.round} is open after {counted(effect.last.look.hits, 'HIT')}: {unclear}."


def _text(effect: Effect) -> str:
    lines = [_verdict(effect), *filter(None, [effect.gap])]
    if effect.last is None:
        return "\n".join(lines)
    if saving := effect.saving:
        lines.append(
            f"Stopping there saves {counted(saving.hits, 'HIT')}: {saving.answer_sets:,} answer sets, "
            f"${saving.dollars}."
        )
        lines.append(_outcome(effect))
    unpooled = dict(zip(effect.models, effect.unpooled.tolist(), strict=True))
    scores = [
        [
            one["model"],
            f"{100 * one['score']:.1f}",
            f"{100 * one['low']:.1f} to {100 * one['high']:.1f}",
            f"{100 * unpooled[one['model']]:.1f}",
        ]
        for one in effect.last.scores
    ]
    interval = f"{effect.settings.confidence:.0%} interval"
    looks = [
        [f"{one.look.hits:,}", shown(one.tau, ".2f"), "yes" if one.is_settled else "no", one.ranking]
        for one in effect.looks
    ]
    lines += ["", text_table(["model", "score", interval, "not in the pool"], scores)]
    lines += ["", text_table(["HITs", "tau-b with the look before", "settled", "ranking"], looks, left=4)]
    return "\n".join(lines)


def _outcome(effect: Effect) -> str:
    """Say whether the ranking at the stop is the one at the end."""
    stop = effect.settled_at
    last = effect.last
    places = slice(0, effect.settings.places)
    if stop and last and np.array_equal(stop.look.order[places], last.look.order[places]):
        return "The ranking there is the last one."
    return "The last ranking is another one."


def _rows(effect: Effect) -> list[dict[str, Any]]:
    return [
        {"hits": look["hits"], "at": look["at"], "tau": look["tau"], "settled": int(look["settled"]), **model}
        for look in (_look(one) for one in effect.looks)
        for model in look["models"]
    ]


def _chart(effect: Effect) -> Chart:
    values = [
        {"line": model, "x": moment.look.hits, "y": 100 * float(moment.look.scores[place])}
        for place, model in enumerate(effect.models)
        for moment in effect.looks
    ]
    widths = [
        {"line": model, "x": moment.look.hits, "y": 50 * float(moment.look.high[place] - moment.look.low[place])}
        for place, model in enumerate(effect.models)
        for moment in effect.looks
    ]
    panels = {"scores so far, percent": values, "half the width of their intervals, points": widths}
    return line_chart(_verdict(effect), f"Round {effect.round}", panels, x="HITs judged", y="")
