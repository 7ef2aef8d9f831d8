"""A round's work over time: submissions by outcome, and their speed."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from django.utils import timezone
from django.utils.formats import date_format
from numpy.typing import NDArray

from annotation.models import Assignment
from console.charts.inline_bars import Column, column_panel
from hits.models import Round
from hits.packing.designs import Design
from hits.task_types import task_type_of
from mitl.charts.drawing import Chart, Key
from mitl.charts.scales import Scale

STEPS = {
    60: "minute",
    300: "5 minutes",
    900: "15 minutes",
    3_600: "hour",
    10_800: "3 hours",
    21_600: "6 hours",
    43_200: "12 hours",
    86_400: "day",
    172_800: "2 days",
    604_800: "week",
    2_419_200: "4 weeks",
    7_862_400: "13 weeks",
}
"""Seconds of a step of time, in words."""
LEAST_COLUMNS = 12
MOST_COLUMNS = 40
FASTEST = 0.5  # seconds a pair at the ends of the axis; the last columns count what is beyond
SLOWEST = 512.0
TICKS = ("0.5", "2", "8", "32", "128", "512")
HALVES = 2  # columns for a factor of two
OUTCOMES = {"good": "accepted", "level-3": "flagged or excluded", "violet": "not decided"}
"""Colours of the outcomes of work, with their labels."""


def activity_of(round: Round) -> dict[str, dict[str, Any] | None]:
    """Return the ``arrivals`` and the ``speeds`` of a round's submitted work, None without such work."""
    work = Assignment.objects.with_hit().filter(hit__round=round, state__in=Assignment.SUBMITTED)
    rows = list(work.order_by().values_list("submitted_at", "state", "active_seconds"))
    times = np.array([at.timestamp() for at, _, _ in rows if at])
    states = np.array([state for at, state, _ in rows if at])
    pairs = task_type_of(round).screens(Design(**round.design).shown)
    seconds = np.array([active / pairs for _, _, active in rows if active is not None])
    return {
        "arrivals": arrivals_in(times, states) if len(times) else None,
        "speeds": speeds_in(seconds) if len(seconds) else None,
    }


def arrivals_in(times: NDArray[np.float64], states: NDArray[np.str_]) -> dict[str, Any]:
    """Draw the submissions by outcome in steps of time, of work that was submitted at ``times`` (n,), in seconds since
    1970, and is in ``states``. ``pass_rate`` is the share of those ``decided`` that were accepted."""
    start = float(times.min())
    end = float(times.max())
    step = next((one for one in STEPS if end // one - start // one < MOST_COLUMNS), max(STEPS))
    number = (times // step - start // step).astype(int)
    length = max(int(number.max()) + 1, LEAST_COLUMNS)
    passed = np.bincount(number[states == Assignment.State.ACCEPTED], minlength=length)
    held = np.bincount(number[np.isin(states, (Assignment.State.FLAGGED, Assignment.State.EXCLUDED))], minlength=length)
    sent = np.bincount(number, minlength=length) - passed - held
    begins = (start // step + np.arange(length)) * step
    columns = []
    for begin, ok, bad, new in zip(begins, passed.tolist(), held.tolist(), sent.tolist(), strict=True):
        title = (
            f"{_said(begin, 'D j M, H:i')}: {ok + bad + new:,} submitted, {ok:,} passed, {bad:,} flagged or excluded"
        )
        columns.append(Column(title, dict(zip(OUTCOMES, (ok, bad, new), strict=True))))
    ends = [(0, _said(begins[0], "j M, H:i")), (length, _said(begins[-1] + step, "j M, H:i"))]
    panel = column_panel("Submissions", columns, {colour: colour for colour in OUTCOMES}, Scale(0, length, ends))
    chart = Chart("Submissions over time", "", [panel], [Key(*one) for one in OUTCOMES.items()])
    decided = int((passed + held).sum())
    pass_rate = int(passed.sum()) / decided if decided else None
    return {"step": STEPS[step], "pass_rate": pass_rate, "decided": decided, "chart": chart}


def _said(seconds: float, style: str) -> str:
    return date_format(timezone.localtime(datetime.fromtimestamp(seconds, tz=UTC)), style)


def speeds_in(seconds: NDArray[np.float64]) -> dict[str, Any]:
    """Draw the answer sets by the ``seconds`` (n,) a pair that they took, on a log scale."""
    edges = FASTEST * 2 ** (np.arange(int(np.log2(SLOWEST / FASTEST)) * HALVES + 1) / HALVES)
    counts = np.histogram(np.clip(seconds, FASTEST, SLOWEST), edges)[0]
    columns = [
        Column(f"{_range(edges, place)} a pair: {count:,}", {"speed": count})
        for place, count in enumerate(counts.tolist())
    ]
    ticks = [(place * len(columns) / (len(TICKS) - 1), f"{tick} s") for place, tick in enumerate(TICKS)]
    panel = column_panel("Answer sets", columns, {"speed": "accent"}, Scale(0, len(columns), ticks))
    return {"n": len(seconds), "median": float(np.median(seconds)), "chart": Chart("Speed", "", [panel])}


def _range(edges: Sequence[float] | NDArray[np.float64], place: int) -> str:
    low = edges[place]
    high = edges[place + 1]
    if place == 0:
        return f"under {high:.2g} s"
    return f"over {low:.3g} s" if place == len(edges) - 2 else f"{low:.2g} to {high:.2g} s"
