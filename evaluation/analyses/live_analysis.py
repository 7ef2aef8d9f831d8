"""Scores of an audit's models with intervals at looks fixed in advance; what stopping there saves and gives up."""

from typing import Annotated, Any

from core.parameters import POSITIONAL, Option
from core.progress import Progress
from core.text import counted
from counterpart_statistics.auditing.model_scores import WHICH, limits_of, percent
from evaluation.analyses import Findings, shown, text_table
from evaluation.analyses.estimates_analysis import scores_table
from evaluation.auditing.estimate_boards import question_of
from evaluation.auditing.live_estimates import LiveDirection, LiveEstimates, LiveLook, LiveParameters, measure_live
from hits.models import Round
from mitl.charts.drawing import Chart
from mitl.charts.lines import line_chart


class LiveAnalysisParameters(LiveParameters):
    name: Annotated[str, "a round of --judge audit, open or closed", POSITIONAL, Option(metavar="ROUND")]


def analyse(parameters: LiveAnalysisParameters, *, progress: Progress) -> Findings:
    """Measure the audit at its looks. Raises CounterpartError as ``measure_live`` does."""
    round = Round.objects.select_related("pool__collection", "pool__sample").named(parameters.name)
    live = measure_live(round, parameters, progress=progress)
    said = [*map(state_text, live.directions), likely_text(live), stop_text(live)]
    return Findings(_figures(live), _text(live), live_chart(live), _rows(live), [*filter(None, said)])


def live_chart(live: LiveEstimates) -> Chart:
    """Draw each model's value and interval over the looks, a panel for each metric and direction."""
    panels = {
        f"{metric}, {side.direction.label}": [
            {
                "line": one.model,
                "x": f"{look.queries:,}",
                "y": one.estimate.value,
                "low": one.estimate.low,
                "high": one.estimate.high,
            }
            for look in side.looks
            for one in look.models
            if one.metric == metric
        ]
        for metric in live.metrics
        for side in live.directions
        if side.looks
    }
    given = live.parameters
    looks = counted(given.looks, "look")
    subtitle = f"{percent(given.confidence)} intervals for {WHICH[given.queries]}, at {looks} together"
    title = f"Scores of models in round {live.round}"
    return line_chart(title, subtitle, panels, x="queries judged whole", y="score", zero=False, per_line=2)


def stop_text(live: LiveEstimates) -> str:
    """Say what closing the round now saves, and which width of the intervals it gives up; empty unless it is open."""
    saving = live.saving
    if saving is None:
        return ""
    if live.is_finished:
        return "Every look is reached: further judgments would not change these estimates."
    saves = (
        f"Closing the round now saves {counted(saving.answer_sets, 'answer set')} of {counted(saving.hits, 'HIT')}, "
        f"${saving.dollars:,}."
    )
    return " ".join([saves, *(_given_up(side) for side in live.directions)])


def _given_up(side: LiveDirection) -> str:
    if side.last is None:
        return f"It leaves {side.direction.label} without an estimate."
    widths = side.last.widest.items()
    parts = ", ".join(f"{metric} {one.now:.3f} for about {one.finished:.3f}" for metric, one in widths)
    return f"It leaves the widest intervals of {side.direction.label} at {parts}."


def _text(live: LiveEstimates) -> str:
    parts = [_side_text(live, side) for side in live.directions]
    if likely := likely_text(live):
        parts.append(likely)
    if stop := stop_text(live):
        parts.append(f"Stop here: {stop}")
    return "\n\n".join(parts)


def likely_text(live: LiveEstimates) -> str:
    """Say how many of the likely matches are judged; empty in a round that does not ask for them."""
    return f"Likely matches: {live.likely.said} {live.likely.enough}".rstrip() if live.likely else ""


def state_text(side: LiveDirection) -> str:
    """Say how far a direction's audit has come, and when the next look is."""
    sentences = [
        f"{side.direction.label}: the first {side.counting:,} of {counted(side.units, 'drawn query', 'drawn queries')} "
        f"{'is' if side.counting == 1 else 'are'} judged whole."
    ]
    if side.waiting:
        sentences.append(f"{counted(side.waiting, 'later query waits', 'later queries wait')} for one before.")
    if side.next_look:
        sentences.append(f"Look {len(side.looks) + 1} of {len(side.planned)} comes after {side.next_look:,}.")
    return " ".join(sentences)


def _side_text(live: LiveEstimates, side: LiveDirection) -> str:
    lines = [state_text(side)]
    if side.last is None:
        return lines[0]
    together = f"{percent(live.parameters.confidence)} at {counted(live.parameters.looks, 'look')} together"
    lines.append(f"{question_of(side.last.models[0])} At this level the intervals hold in {together}.")
    lines += limits_of(side.last.models)
    lines += [scores_table(side.last.models, side.last.widths), ""]
    lines += [*(f"{one.metric}: {one}" for one in side.last.differences), ""]
    looks = [[*_reached(look), *(shown(one.now, ".3f") for one in look.widest.values())] for look in side.looks]
    heads = ["look", "queries", "share", "HITs", "answer sets", "spent", "judged by"]
    lines.append(text_table([*heads, *(f"widest {metric}" for metric in live.metrics)], looks))
    return "\n".join(lines)


def _reached(look: LiveLook) -> list[str]:
    at = f"{look.at:%Y-%m-%d %H:%M}" if look.at else "-"
    counts = [f"{number:,}" for number in (look.hits, look.answer_sets)]
    return [str(look.number), f"{look.queries:,}", f"{look.share:.0%}", *counts, f"${look.dollars:,}", at]


def _figures(live: LiveEstimates) -> dict[str, Any]:
    saving = live.saving
    return {
        "round": live.round.name,
        "looks": live.parameters.looks,
        "confidence": live.parameters.confidence,
        "queries": live.parameters.queries,
        "directions": [_of_side(side) for side in live.directions],
        "stop": saving and {"hits": saving.hits, "answer_sets": saving.answer_sets, "dollars": str(saving.dollars)},
        "likely": live.likely and live.likely.row(),
    }


def _of_side(side: LiveDirection) -> dict[str, Any]:
    return {
        "direction": side.direction.value,
        "drawn": side.units,
        "whole": side.counting,
        "waiting": side.waiting,
        "planned": list(side.planned),
        "looks": [
            {
                **_of_look(look),
                "models": [
                    one.row() | {"width": width.now, "width_when_finished": width.finished}
                    for one, width in zip(look.models, look.widths, strict=True)
                ],
                "differences": [one.row() for one in look.differences],
            }
            for look in side.looks
        ],
    }


def _of_look(look: LiveLook) -> dict[str, Any]:
    return {
        "look": look.number,
        "queries": look.queries,
        "share": look.share,
        "at": look.at.isoformat() if look.at else None,
        "hits": look.hits,
        "answer_sets": look.answer_sets,
        "dollars": str(look.dollars),
    }


def _rows(live: LiveEstimates) -> list[dict[str, Any]]:
    return [_of_look(look) | one.row() for side in live.directions for look in side.looks for one in look.models]
