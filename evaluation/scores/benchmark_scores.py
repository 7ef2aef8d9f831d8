"""Score files of rankings with COCO's ids on the named benchmarks. Nothing of it needs or changes the database."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from core.errors import CounterpartError, some_of
from core.progress import Progress, silent, tracked
from core.untrusted import json_items, json_pairs
from counterpart_metrics import BENCHMARKS
from counterpart_metrics.benchmark_targets import coco_ids, plausible_targets, target_named
from counterpart_metrics.needed_lists import needs_of
from counterpart_metrics.ranking_files import model_names
from counterpart_metrics.targets import Reading
from evaluation.ranking_files import stream_rankings
from evaluation.scores.boards import Board, joined
from evaluation.scores.evaluate_parameters import EvaluateParameters
from evaluation.scores.leaderboard import board_from
from evaluation.scores.scoring import Scored, score_rankings

ORDER = ("eccv", "cxc", "coco-1k", "coco-5k", "pmrp")  # of table 4


def evaluate_benchmarks(
    names: Sequence[str], paths: Sequence[Path], parameters: EvaluateParameters, *, progress: Progress = silent
) -> Board:
    """Score each file on each benchmark; return the board of them all.

    Raises CounterpartError for unknown benchmarks, files that cannot be read or whose models would have one name, and
    rankings without some of the queries, with their number.
    """
    check_benchmarks(names, has_categories=parameters.categories is not None)
    targets = [target_named(name) for name in ORDER if name in names and name != "pmrp"]
    if parameters.categories and "pmrp" in names:
        targets += plausible_targets(read_categories(parameters.categories), parameters.zeta)
    models = [parameters.model] if parameters.model else model_names(paths)
    scored = [
        _scored_file(path, [Reading(name, target, parameters.policies) for target in targets])
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


def _scored_file(path: Path, readings: Sequence[Reading]) -> list[list[Scored]]:
    return score_rankings(stream_rankings(path, coco_ids(), needs=needs_of(readings)), readings)


def check_benchmarks(names: Sequence[str], *, has_categories: bool) -> None:
    """Raise CounterpartError for no or unknown benchmarks, and for pmrp without the categories of the images."""
    if unknown := [name for name in names if name not in BENCHMARKS]:
        raise CounterpartError(f"Unknown benchmarks {some_of(unknown)}: choose of {', '.join(ORDER)}.")
    if not names:
        raise CounterpartError(f"Name at least one benchmark: {', '.join(ORDER)}.")
    if "pmrp" in names and not has_categories:
        raise CounterpartError("pmrp needs the categories of the images: pass --categories instances_val2014.json.")


def read_categories(path: Path) -> dict[int, set[Any]]:
    """Read the categories of images from COCO's file of instances, or ``{image: [categories]}``.

    Raises CounterpartError for a file that is neither.
    """
    try:
        with path.open("rb") as file:
            first = next(json_items(path.name, file, "annotations.item"), None)
        with path.open("rb") as file:
            if first is None:
                pairs = json_pairs(path.name, file)
                shown: dict[int, set[Any]] = {int(image): set(of) for image, of in pairs}
            else:
                shown = {}
                for one in json_items(path.name, file, "annotations.item"):
                    shown.setdefault(int(one["image_id"]), set()).add(one["category_id"])
        if first is not None:
            with path.open("rb") as file:  # images without any object
                for image in json_items(path.name, file, "images.item.id"):
                    shown.setdefault(int(image), set())
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise CounterpartError(
            f"{path.name} holds no categories of images. Use COCO's instances_val2014.json, or {{image: [categories]}}."
        ) from error
    return shown
