"""The designs that the plan of a round offers: what each measures, and what it costs."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
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


@dataclass(frozen=True)
class OfferedDesign:
    """A value of ``judge`` with what it measures; ``estimate`` is None where the other answers do not allow it."""

    judge: str
    label: str
    effect: str
    estimate: PlanEstimate | None = None


def offered_designs(
    estimate: Callable[[Any], PlanEstimate], parameters: PackParameters | None, pool: Pool | None
) -> Iterator[OfferedDesign]:
    """Yield the designs, each with the other answers of ``parameters``; None: these are not valid."""
    for judge, (label, effect) in MEASURED.items():
        offered = OfferedDesign(judge, label, effect if "audit" not in judge else f"{effect}.")
        if parameters:
            with suppress(CounterpartError):
                chosen = _changed(parameters, judge)
                offered = OfferedDesign(judge, label, _effect(effect, chosen, pool), estimate(chosen))
        yield offered


def _changed(parameters: PackParameters, judge: str) -> PackParameters:
    if parameters.judge == judge:
        return parameters
    top_up = parameters.top_up if parameters.seats > 1 else 0
    return replace(parameters, judge=judge, audit_share=None, stop_recall=None, stop_width=None, top_up=top_up)


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
