"""What audits of a collection's queries would cost and tell, with a round that was judged as the pilot."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import Annotated, Any

import numpy as np
from django import forms
from django.db.models import Q

from annotation.money.wages import slow_seconds
from core.errors import CounterpartError
from core.parameters import Option, Parameters, choices
from core.progress import Progress, silent
from evaluation.estimation import METRICS, Pilot, Plan, plan
from evaluation.round_estimates import WholeQueries, whole_queries
from hits.models import Round

SHARES, SPREADS = (0.1, 0.2, 0.3, 0.5), (1, 4)
GRID_SHARES, GRID_SPREADS = tuple(number / 20 for number in range(1, 20)), (1, 2, 4, 10)


@dataclass(frozen=True, kw_only=True)
class AuditOptions(Parameters):
    """Which designs are compared, and what is wished of them."""

    metric: Annotated[
        str,
        forms.ChoiceField(choices=choices(*METRICS), help_text="metric whose intervals are shown and compared"),
    ] = METRICS[0]
    width: Annotated[
        float | None,
        forms.FloatField(
            required=False,
            min_value=0.001,
            max_value=1,
            help_text="wished width of the widest interval: also name the cheapest design that reaches it",
        ),
        Option(metavar="W"),
    ] = None
    merge: Annotated[str, "match sources that count without a judgment, as release merges them"] = "original"
    grid: Annotated[bool, "compare a fine grid of designs in place of a few"] = False


@dataclass(frozen=True)
class Design:
    """A design for all directions of a pool together.

    Attributes:
        share, spread: of the judgments and of the queries of a round that asks all pairs of the pilot's queries.
        matches: that would be found, of each query in each direction.
        widths: by direction and metric, of the widest interval of any model.
    """

    design: str
    share: float
    spread: float
    hits: int
    cost: Decimal
    hours: float
    matches: float
    widths: Mapping[tuple[str, str], float]

    def widest(self, metric: str) -> float:
        return max(width for (_, name), width in self.widths.items() if name == metric)

    def row(self) -> dict[str, Any]:
        """Return what ``plan`` prints."""
        return {
            "design": self.design,
            "share": self.share,
            "spread": self.spread,
            "hits": self.hits,
            "cost": self.cost,
            "hours": round(self.hours, 1),
            "matches": round(self.matches),
            "widths": {f"{side} {metric}": width for (side, metric), width in self.widths.items()},
        }


def audit_options(
    pilot: Round, parameters: AuditOptions | None = None, *, progress: Progress = silent
) -> tuple[list[Design], Design | None]:
    """Return a round of all pairs and audits of its queries, or of more of the same kind, as the pilot lets us expect
    them; and the cheapest of the wished width.

    HITs cost what those of the pilot do, and take the minutes that it expects.
    Raises CounterpartError as ``estimate_round`` does, and where no design of the grid reaches the wished width.
    """
    given = parameters or AuditOptions()
    shares, spreads = (GRID_SHARES, GRID_SPREADS) if given.grid else (SHARES, SPREADS)
    sides = {}
    for whole in whole_queries(pilot, merge=given.merge, progress=progress):
        progress("planning", 0, None)
        sides[whole.direction.value] = plan(_pilot(whole), shares, spreads, queries=len(whole.queries.keys))
    designs = list(_together(pilot, sides))
    if given.width is None:
        return designs, None
    narrow = [one for one in designs if one.widest(given.metric) <= given.width]
    if not narrow:
        least = min(one.widest(given.metric) for one in designs)
        raise CounterpartError(
            f"No design of the grid reaches a width of {given.width:g}; the least is {least:.3f}. Wish for a wider "
            "interval" + ("." if given.grid else ", or pass --grid.")
        )
    return designs, min(narrow, key=lambda one: one.cost)


def _pilot(whole: WholeQueries) -> Pilot:
    queries, audited = whole.queries, whole.audited
    probabilities, proxy = whole.expectations
    found = (np.nan_to_num(queries.gains) > 0) & queries.asked
    return Pilot(
        whole.metrics[:, :, audited],
        proxy[:, :, audited],
        matches=found[audited].sum(axis=1).astype(float),
        expected=probabilities[audited].sum(axis=1),
        pairs=queries.asked[audited].sum(axis=1).astype(float),
        rest=probabilities[~audited][queries.asked[~audited]],
    )


def _together(pilot: Round, sides: Mapping[str, list[Plan]]) -> Iterator[Design]:
    of_images, of_captions, of_both = _pairs_of_queries(pilot)
    minutes = (pilot.expected_seconds or slow_seconds(pilot)) / 60
    for plans in zip(*sides.values(), strict=True):
        share, spread = plans[0].share, plans[0].spread
        # A pair of two audited queries is asked once.
        pairs = share * (of_images + of_captions) - of_both * share**2 / spread
        hits = ceil(round(pairs / pilot.design["candidates"], 9))
        widths = {
            (side, metric): float(one.width_by_metric[number].max())
            for side, one in zip(sides, plans, strict=True)
            for number, metric in enumerate(METRICS)
        }
        yield Design(
            plans[0].design,
            share,
            spread,
            hits,
            hits * pilot.seat_cost * pilot.replication,
            hits * minutes * pilot.replication / 60,
            sum(one.matches for one in plans),
            widths,
        )


def _pairs_of_queries(pilot: Round) -> tuple[int, int, int]:
    """Return the pairs of the pool whose image is a query, whose caption is one, and with both."""
    sample = pilot.pool.sample
    images, captions = Q(image__in=sample.images.all()), Q(caption__in=sample.captions.all())
    directions = pilot.pool.directions
    sides = [images if "i2t" in directions else Q(pk=None), captions if "t2i" in directions else Q(pk=None)]
    proposed = pilot.pool.proposals.order_by()

    def count(condition: Q) -> int:
        return proposed.filter(condition).values("image", "caption").distinct().count()

    return count(sides[0]), count(sides[1]), count(sides[0] & sides[1])
