"""Score rankings on an exported version: the figures of the site's command ``evaluate``."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from counterpart_metrics import graded, unjudged
from counterpart_metrics.arrays import DIRECTIONS
from counterpart_metrics.binary import METRICS, Metric
from counterpart_metrics.errors import CounterpartError, some_of
from counterpart_metrics.exported import ExportedVersion
from counterpart_metrics.figures import Figure, average, figure_of
from counterpart_metrics.json_lists import blocks_of
from counterpart_metrics.policies import DEFAULT, Policies
from counterpart_metrics.ranking_files import stream_rankings
from counterpart_metrics.targets import Reading

AVERAGE = "average"
# In the order of ECCV Caption's table 4, then those of its appendix.
SCORED = ("mAP@R", "R-Precision", "R@1", "R@5", "R@10")
SCORERS: Mapping[str, Metric] = {**METRICS, **graded.METRICS, "bpref": unjudged.bpref}
Lists = Mapping[str, Mapping[Any, Sequence[Any]]]


@dataclass(frozen=True)
class Scores:
    """One model on one version: ``figures[part][metric]``, part ``average`` (where both directions are ranked), ``i2t``
    or ``t2i``. ``notes`` say what else a reader of the figures has to know."""

    figures: Mapping[str, Mapping[str, Figure]]
    notes: Sequence[str] = ()


def evaluate(
    rankings: str | Path | Lists,
    version: ExportedVersion,
    *,
    model: str = "",
    policies: Policies = DEFAULT,
    metrics: Sequence[str] = SCORED,
) -> dict[str, Scores]:
    """Score a file of rankings, or ``{"i2t": {query: [items, best first]}, "t2i": …}``, on a version.

    Means are over the queries that have a match. Missing entries of a list count as wrong by default.

    Args:
        model: the model's name; by default that of the file, without its suffix.
        metrics: names in ``SCORERS``. Graded ones distinguish full from partial matches on qrels with graded
            labels, and bpref takes the pairs that were judged not to match from any qrels.

    Returns:
        The scores by the name of the model; under a policy of intervals, of the model at its highest and lowest.

    Raises:
        CounterpartError: for an unknown metric, rankings that cannot be read, miss a query with a match or list an item
            twice among the ranks that count, and as the policies do.
    """
    if unknown := [name for name in metrics if name not in SCORERS]:
        raise CounterpartError(f"Unknown metrics {some_of(unknown)}: use {', '.join(SCORERS)}.")
    model = model or ("rankings" if isinstance(rankings, Mapping) else Path(rankings).stem)
    target = version.target({name: SCORERS[name] for name in metrics})
    ids = target.ids()
    reading = Reading(model, target, policies)
    if isinstance(rankings, Mapping):
        blocks = blocks_of(model, ids, _members(rankings))
    else:
        blocks = stream_rankings(Path(rankings), ids)
    for block in blocks:
        reading.add(block)
    reading.check_known()
    notes = reading.notes
    return {
        name: Scores(
            _with_average({d: {m: figure_of(one) for m, one in of.items()} for d, of in values.items()}), notes
        )
        for name, values in reading.values().items()
    }


def _with_average(sides: dict[str, dict[str, Figure]]) -> dict[str, dict[str, Figure]]:
    if len(sides) < len(DIRECTIONS):
        return sides
    metrics = next(iter(sides.values()))
    return {AVERAGE: {name: average([side[name] for side in sides.values()]) for name in metrics}, **sides}


def _members(lists: Lists) -> Iterator[tuple[str, str, list[Any]]]:
    for direction in filter(lists.__contains__, DIRECTIONS):
        for query, items in lists[direction].items():
            yield direction, str(query), [one.item() if isinstance(one, np.generic) else one for one in items]
