"""The designs that the plan of a round offers: what each measures, and what it costs."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from math import sqrt
from typing import Any

from core.errors import CounterpartError
from corpus.models import Sample
from counterpart_statistics.vote_errors import REACH
from hits.judge_designs import queries_of
from hits.rounds.plan_estimates import PlanEstimate
from hits.rounds.round_parameters import PackParameters
from mitl.models import Pool

MEASURED = {
    "all": ("Everything", "Every pair is judged. Matches and scores are counted, without an interval."),
    "audit": ("The scores", "All pairs of some random queries are judged. Scores are estimated"),
    "audit+greedy": ("The scores and most matches", "After an audit, likely matches are judged. Scores are estimated"),
    "first-hits": ("R@1 alone", "Only the first hit of each annotator is judged. R@1 is counted, and nothing else."),
}
"""Value of ``judge`` → what it measures."""


def offered_designs(
    estimate: Callable[[Any], PlanEstimate], parameters: PackParameters | None, pool: Pool | None
) -> Iterator[dict[str, Any]]:
    """Yield the values of ``judge`` with what they measure, and an ``estimate`` with the other answers of
    ``parameters``; without one where these do not allow it, or are not valid (None)."""
    for judge, (label, effect) in MEASURED.items():
        alone = effect if "audit" not in judge else f"{effect}."
        offered: dict[str, Any] = {"judge": judge, "label": label, "effect": alone}
        if parameters:
            with suppress(CounterpartError):
                chosen = parameters
                if judge != parameters.judge:
                    top_up = parameters.top_up if parameters.seats > 1 else 0
                    unset: dict[str, Any] = dict.fromkeys(("audit_share", "stop_recall", "stop_width"))
                    chosen = replace(parameters, judge=judge, top_up=top_up, **unset)
                offered |= {"effect": _effect(effect, chosen, pool), "estimate": estimate(chosen)}
        yield offered


def _effect(effect: str, parameters: PackParameters, pool: Pool | None) -> str:
    """Return the effect of a design; of an audit with the error of a score at most."""
    if "audit" not in parameters.judge:
        return effect
    queries = list(queries_of(pool)) if pool else list(_planned_queries(parameters))
    design = parameters.judge_design(queries)
    error = max(largest_error(count, design.n_audited(count)) for count in queries if count)
    return f"{effect} within ±{error:.2f} or better."


def _planned_queries(parameters: Any) -> Iterable[int]:
    sizes = {"i2t": parameters.images, "t2i": parameters.captions}
    if parameters.queries:
        sample = Sample.objects.named(parameters.queries)
        sizes = {"i2t": sample.images.count(), "t2i": sample.captions.count()}
    return (size for direction, size in sizes.items() if parameters.direction in ("both", direction))


def largest_error(queries: int, audited: int) -> float:
    """Return the largest half of a 95% interval of a mean of values from 0 to 1, known for ``audited`` of its queries.

    >>> round(largest_error(60, 18), 2)
    0.2
    """
    if audited >= queries:
        return 0.0
    return REACH * 0.5 * sqrt((1 - audited / queries) / max(audited - 1, 1))
