"""The named benchmarks as targets of scoring, with COCO's ids."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from counterpart_metrics import ALL_METRICS, BENCHMARKS, METRICS, Plausible, positives
from counterpart_metrics.arrays import DIRECTIONS
from counterpart_metrics.errors import CounterpartError
from counterpart_metrics.ids import Ids
from counterpart_metrics.named_benchmarks import first_captions, folds_of, of_gallery
from counterpart_metrics.protocols import EXPLAINED, OWN, Setting, settings_of
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


def coco_settings(shown: Categories | None, zetas: Sequence[int]) -> list[Setting]:
    """Return the ways in which models are scored on COCO's test images; PMRP with the categories of each image."""
    names = {"coco-5k": "COCO 5K", "coco-1k": "COCO 1K (five folds)", "cxc": "CxC", "eccv": "ECCV Caption"}
    found = [Setting(said, replace(target_named(name), metrics=EXPLAINED)) for name, said in names.items()]
    whole, folds, _, eccv = (one.target for one in found)
    original = {direction: positives("coco-5k")[direction] for direction in DIRECTIONS}
    asked = {d: one.of_queries(np.isin(one.queries, eccv.parts[d][0].queries)) for d, one in original.items()}
    first = first_captions()
    one_each = original["t2i"].of_queries(np.isin(original["t2i"].queries, first))
    parts: dict[str, dict[str, Sequence[Part]]] = {
        "the first fold alone": {direction: some[:1] for direction, some in folds.parts.items()},
        "the queries of ECCV Caption alone": {direction: [Part.of(one)] for direction, one in asked.items()},
        "the first caption of each image alone": {
            "i2t": [Part.of(original["i2t"].keep(np.isin(original["i2t"].items, first)), first)],
            "t2i": [Part.of(one_each)],
        },
    }
    found += [Setting("COCO 5K", replace(whole, parts=one), (choice,)) for choice, one in parts.items()]
    found += [
        one for one in settings_of("ECCV Caption", positives("eccv"), coco_ids()) if one.choices not in ((), (OWN,))
    ]
    return found + [Setting("PMRP", one) for one in (plausible_targets(shown, zetas) if shown else [])]


@cache
def coco_ids() -> Ids:
    """Return the ids of COCO's 5,000 test images and 25,000 captions."""
    whole = positives("coco-5k")
    return Ids.of_numbers(whole["i2t"].queries.tolist(), whole["t2i"].queries.tolist())
