"""Score files of rankings with COCO's ids on the named benchmarks. Nothing of it needs or changes the database."""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

import ijson
import numpy as np

from core.errors import CounterpartError, some_of
from core.progress import Progress, silent, tracked
from corpus.input_files import BoundedJson
from counterpart_metrics import ALL_METRICS, BENCHMARKS, METRICS, Plausible, positives
from counterpart_metrics.arrays import DIRECTIONS
from counterpart_metrics.ids import Ids
from counterpart_metrics.named_benchmarks import folds_of, of_gallery
from counterpart_metrics.ranking_files import model_names
from counterpart_metrics.targets import Part, Target
from evaluation.ranking_files import stream_rankings
from evaluation.scores.boards import Board, joined
from evaluation.scores.evaluate_parameters import EvaluateParameters
from evaluation.scores.leaderboard import board_from
from evaluation.scores.scoring import score_rankings

ORDER = ("eccv", "cxc", "coco-1k", "coco-5k", "pmrp")  # of table 4
Categories = Mapping[int, set[Any]]


def evaluate_benchmarks(
    names: Sequence[str], paths: Sequence[Path], parameters: EvaluateParameters, *, progress: Progress = silent
) -> Board:
    """Score each file on each benchmark; return the board of them all.

    Raises CounterpartError for unknown benchmarks, files that cannot be read or whose models would have one name, and
    rankings that lack queries, with their number.
    """
    check_benchmarks(names, has_categories=parameters.categories is not None)
    targets = [_target(name) for name in ORDER if name in names and name != "pmrp"]
    if parameters.categories and "pmrp" in names:
        targets += _plausible_targets(read_categories(parameters.categories), parameters.zeta)
    models = [parameters.model] if parameters.model else model_names(paths)
    scored = [
        score_rankings(name, stream_rankings(path, coco_ids()), targets, parameters.policies)
        for path, name in zip(tracked(paths, "models", progress, every=1), models, strict=True)
    ]
    return joined(
        (
            target.name,
            board_from(
                chain.from_iterable(column),
                estimand=f"matches of {target.name}",
                compare=not parameters.policies.leave_interval,
            ),
        )
        for target, column in zip(targets, zip(*scored, strict=True), strict=True)
    )


def check_benchmarks(names: Sequence[str], *, has_categories: bool) -> None:
    """Raise CounterpartError for no or unknown benchmarks, and for pmrp without the categories of the images."""
    if unknown := [name for name in names if name not in BENCHMARKS]:
        raise CounterpartError(f"Unknown benchmarks {some_of(unknown)}: choose of {', '.join(ORDER)}.")
    if not names:
        raise CounterpartError(f"Name at least one benchmark: {', '.join(ORDER)}.")
    if "pmrp" in names and not has_categories:
        raise CounterpartError("pmrp needs the categories of the images: pass --categories instances_val2014.json.")


def _target(name: str) -> Target:
    metrics = {metric: METRICS[metric] for metric in BENCHMARKS[name]}
    parts = {
        direction: [Part.of(*fold) for fold in folds_of(direction)]
        if name == "coco-1k"
        else [Part.of(positives(name)[direction])]
        for direction in DIRECTIONS
    }
    return Target(name, metrics, parts, coco_ids)


def _plausible_targets(shown: Categories, zetas: Sequence[int]) -> list[Target]:
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
    """The ids of COCO's 5,000 test images and 25,000 captions."""
    whole = positives("coco-5k")
    return Ids.of_numbers(whole["i2t"].queries.tolist(), whole["t2i"].queries.tolist())


def read_categories(path: Path) -> dict[int, set[Any]]:
    """Read the categories of images from COCO's file of instances, or ``{image: [categories]}``.

    Raises CounterpartError for a file that is neither.
    """
    try:
        with path.open("rb") as file:
            first = next(ijson.items(BoundedJson(path.name, file), "annotations.item"), None)
        with path.open("rb") as file:
            if first is None:
                pairs = ijson.kvitems(BoundedJson(path.name, file), "")
                shown: dict[int, set[Any]] = {int(image): set(of) for image, of in pairs}
            else:
                shown = {}
                for one in ijson.items(BoundedJson(path.name, file), "annotations.item"):
                    shown.setdefault(int(one["image_id"]), set()).add(one["category_id"])
        if first is not None:
            with path.open("rb") as file:  # images without any object
                for image in ijson.items(BoundedJson(path.name, file), "images.item.id"):
                    shown.setdefault(int(image), set())
    except (ijson.JSONError, UnicodeDecodeError, ValueError, TypeError, KeyError) as error:
        raise CounterpartError(
            f"{path.name} holds no categories of images. Use COCO's instances_val2014.json, or {{image: [categories]}}."
        ) from error
    return shown
