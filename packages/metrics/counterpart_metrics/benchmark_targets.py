"""The named benchmarks as targets of scoring, with COCO's ids."""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from counterpart_metrics import ALL_METRICS, BENCHMARKS, METRICS, Plausible, positives
from counterpart_metrics.arrays import DIRECTIONS
from counterpart_metrics.errors import CounterpartError
from counterpart_metrics.ids import Ids
from counterpart_metrics.named_benchmarks import folds_of, of_gallery
from counterpart_metrics.targets import Part, Target

Categories = Mapping[int, set[Any]]


def target_named(name: str) -> Target:
    """Return a named benchmark but PMRP as a target of scoring."""
    metrics = {metric: METRICS[metric] for metric in BENCHMARKS[name]}
    parts = {
        direction: [Part.of(*fold) for fold in folds_of(direction)]
        if name == "coco-1k"
        else [Part.of(positives(name)[direction])]
        for direction in DIRECTIONS
    }
    return Target(name, metrics, parts, coco_ids)


def plausible_targets(shown: Categories, zetas: Sequence[int]) -> list[Target]:
    """Return PMRP as targets, one for each of ``zetas``; ``shown`` are the categories of each image. Raises
    CounterpartError as ``of_gallery``."""
    try:
        sides = {direction: Plausible(*of_gallery(shown, direction)) for direction in DIRECTIONS}
    except ValueError as error:
        raise CounterpartError(f"pmrp: {error}") from error
    return [
        Target(
            "pmrp",
            {f"PMRP ζ={zeta}": ALL_METRICS["PMRP"]},
            {direction: _plausible_parts(plausible, zeta) for direction, plausible in sides.items()},
            coco_ids,
        )
        for zeta in zetas
    ]


def _plausible_parts(plausible: Plausible, zeta: int) -> list[Part]:
    """Queries a thousand at a time: all together have 13 million matches at ζ = 2."""
    chunks = np.array_split(plausible.queries, max(1, len(plausible.queries) // 1000))
    return [Part(queries, partial(plausible.matches, zeta)) for queries in chunks]


@cache
def coco_ids() -> Ids:
    """Return the ids of COCO's 5,000 test images and 25,000 captions."""
    whole = positives("coco-5k")
    return Ids.of_numbers(whole["i2t"].queries.tolist(), whole["t2i"].queries.tolist())
