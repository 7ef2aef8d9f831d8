"""Score files of rankings on benchmarks: the named ones with COCO's ids, exports with theirs, and released versions."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from core.errors import CounterpartError, some_of
from core.progress import Progress, silent, tracked
from corpus.input_files import json_items, json_pairs
from counterpart_metrics import BENCHMARKS, METRICS, SCORED, ExportedVersion
from counterpart_metrics.benchmark_targets import plausible_targets, target_named
from counterpart_metrics.needed_lists import needs_of
from counterpart_metrics.ranking_files import model_names
from counterpart_metrics.targets import Reading, Target
from dataset.models import Version
from evaluation.ranking_files import stream_rankings
from evaluation.scores.boards import Board, joined
from evaluation.scores.evaluate_parameters import EvaluateParameters
from evaluation.scores.leaderboard import board_from, estimand_of
from evaluation.scores.scoring import Scored, evaluate_version, score_rankings

ORDER = ("eccv", "cxc", "coco-1k", "coco-5k", "pmrp")  # of table 4


def evaluate_benchmarks(
    names: Sequence[str], paths: Sequence[Path], parameters: EvaluateParameters, *, progress: Progress = silent
) -> Board:
    """Score each file on each benchmark: those of ``ORDER``, exports by their place, and released versions, on which
    the rankings are registered and scored as by ``evaluate_version``; return the board of them all.

    Raises CounterpartError for unknown benchmarks, files that cannot be read or whose models would have one name, and
    rankings without some of the queries, with their number.
    """
    models = [parameters.model] if parameters.model else model_names(paths)
    named, versions, exports = benchmarks_named(names, parameters)
    worlds = [world for world in ([*named], *([one] for one in exports)) if world]  # targets that share their ids
    found: list[tuple[Target, list[Scored]]] = [(target, []) for world in worlds for target in world]
    for path, model in zip(tracked(paths, "models", progress, every=1), models, strict=True):
        scored = (_scored_file(path, [Reading(model, one, parameters.policies) for one in world]) for world in worlds)
        for (_, column), of_model in zip(found, chain.from_iterable(scored), strict=True):
            column.extend(of_model)
    compare = not parameters.policies.leave_interval
    boards = [
        (target.name, board_from(column, estimand=f"matches of {target.name}", compare=compare))
        for target, column in found
    ]
    for version in versions:
        on_it = evaluate_version(
            version, rankings=paths, model=parameters.model, policies=parameters.policies, progress=progress
        )
        boards.append((version.name, board_from(on_it, estimand=estimand_of(version), compare=compare)))
    return joined(boards)


def _scored_file(path: Path, readings: Sequence[Reading]) -> list[list[Scored]]:
    scored = score_rankings(stream_rankings(path, readings[0].target.ids(), needs=needs_of(readings)), readings)
    for reading in readings:
        reading.check_known()
    return scored


def benchmarks_named(
    names: Sequence[str], parameters: EvaluateParameters
) -> tuple[list[Target], list[Version], list[Target]]:
    """Return the named benchmarks, the released versions, and the exports at a place. Raises CounterpartError for
    others."""
    named = [name for name in ORDER if name in names]
    versions, places = places_named([name for name in names if name not in ORDER])
    if named or not names:
        check_benchmarks(named, has_categories=parameters.categories is not None)
    targets = [target_named(name) for name in named if name != "pmrp"]
    if parameters.categories and "pmrp" in named:
        targets += plausible_targets(read_categories(parameters.categories), parameters.zeta)
    metrics = {metric: METRICS[metric] for metric in SCORED}
    return targets, versions, [ExportedVersion.read(place).target(metrics) for place in places]


def places_named(names: Sequence[str]) -> tuple[list[Version], list[Path]]:
    """Return the released versions with these names, and the other names as places of exports. Raises CounterpartError
    for those that are neither."""
    known = Version.objects.in_bulk(names, field_name="name")
    places = [Path(name) for name in dict.fromkeys(names) if name not in known]
    if unknown := [str(place) for place in places if not place.exists()]:
        released = some_of(list(Version.objects.values_list("name", flat=True)) or ["none"])
        raise CounterpartError(
            f"Unknown benchmarks {some_of(unknown)}: neither a file or folder of an export, nor a released version "
            f"({released}), nor one of {', '.join(ORDER)}."
        )
    return list(known.values()), places


def check_benchmarks(names: Sequence[str], *, has_categories: bool) -> None:
    """Raise CounterpartError for no or unknown benchmarks, and for pmrp without the categories of the images."""
    if unknown := [name for name in names if name not in BENCHMARKS]:
        raise CounterpartError(f"Unknown benchmarks {some_of(unknown)}: choose of {', '.join(ORDER)}.")
    if not names:
        raise CounterpartError(f"Name at least one benchmark: {', '.join(ORDER)}.")
    if "pmrp" in names and not has_categories:
        raise CounterpartError("pmrp needs the categories of the images: pass --categories instances_val2014.json.")


def read_categories(path: Path) -> dict[int, set[Any]]:
    """Read the categories of images from COCO's file of instances, or ``{image: [categories]}``, plain or gzipped.

    Raises CounterpartError for a file that is neither.
    """
    shown: dict[int, set[Any]] = {}
    try:
        for one in json_items(path, "annotations.item"):
            shown.setdefault(int(one["image_id"]), set()).add(one["category_id"])
        if not shown:
            listed = dict(json_pairs(path))
            if not all(isinstance(of, list) for of in listed.values()):
                raise TypeError(path)
            return {int(image): set(of) for image, of in listed.items()}
        for image in json_items(path, "images.item.id"):  # also those without any object
            shown.setdefault(int(image), set())
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise CounterpartError(
            f"{path.name} holds no categories of images. Use COCO's instances_val2014.json, or {{image: [categories]}}."
        ) from error
    return shown
