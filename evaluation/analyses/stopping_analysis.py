"""Whether a round's judgments have settled the ranking of the models; where a finished round could have stopped."""

from dataclasses import fields, replace
from typing import Annotated, Any

import numpy as np

from core.errors import CounterpartError
from core.parameters import POSITIONAL, Option
from core.progress import Progress
from core.text import counted
from evaluation.analyses import Findings, shown, text_table
from evaluation.live_effect import Effect, EffectParameters, Moment, measure_effect
from hits.models import Round
from mitl.charts.bars import interval_chart
from mitl.charts.drawing import Chart
from mitl.charts.lines import rank_chart


class StoppingParameters(EffectParameters):
    name: Annotated[str, "an open or closed round", POSITIONAL, Option(metavar="ROUND")]
    check: Annotated[bool, "end with an error unless the ranking is settled"] = False


def analyse(parameters: StoppingParameters, *, progress: Progress) -> Findings:
    """Measure a round's live effect. Raises as ``measure_effect``, and with ``check`` unless the ranking is settled."""
    effect = measure_effect(Round.objects.named(parameters.name), parameters, progress=progress)
    if parameters.check and not effect.is_settled:
        raise CounterpartError(_verdict(effect))
    return Findings(_figures(effect), _text(effect), _chart(effect), _rows(effect), _said(effect))


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


def _said(effect: Effect) -> list[str]:
    """Say whether the ranking is settled, what keeps HITs from counting, and what stopping there saves."""
    said = [_verdict(effect), *filter(None, [effect.gap])]
    if effect.last and (saving := effect.saving) and saving.hits:
        said.append(
            f"Stopping there saves {counted(saving.hits, 'HIT')}: {saving.answer_sets:,} answer sets, "
            f"${saving.dollars}."
        )
        said.append(_outcome(effect))
    return said


def _text(effect: Effect) -> str:
    lines = _said(effect)
    if effect.last is None:
        return "\n".join(lines)
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
    """Draw the scores at the last look with their intervals, and the ranks at each look."""
    scores = [
        {"name": row["model"], **{name: 100 * row[name] for name in ("low", "high")}, "value": 100 * row["score"]}
        for row in (effect.last.scores if effect.last else [])
    ]
    looks = [f"{moment.look.hits:,}" for moment in effect.looks]
    ranks: dict[str, dict[str, int]] = {row["name"]: {} for row in scores}
    for name, moment in zip(looks, effect.looks, strict=True):
        for place, row in enumerate(moment.scores, 1):
            ranks[row["model"]][name] = place
    subtitle = (
        "The intervals show how far unjudged HITs can change each score. Items outside the pool count as no match."
    )
    chart = interval_chart(_verdict(effect), subtitle, {"scores so far": scores}, "percent")
    over_time = rank_chart(looks, ranks, "HITs judged")
    return replace(chart, panels=[*chart.panels, *over_time.panels], per_line=2)
