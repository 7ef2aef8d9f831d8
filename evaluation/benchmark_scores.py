"""Score files of rankings with COCO's ids on the named benchmarks. Nothing of it needs or changes the database."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ijson
import numpy as np

from core.errors import CounterpartError, some_of
from core.progress import Progress, silent, tracked
from evaluation.leaderboard import Board, board_from, joined
from evaluation.metrics import ALL_METRICS, BENCHMARKS, Rankings, find_in, plausible_precision, positives
from evaluation.metrics.benchmarks import of_gallery
from evaluation.ranking_files import Ids, read_rankings
from evaluation.scoring import Scored, scored_from, truncation_of
from mitl.models import Direction

ORDER = ("eccv", "cxc", "coco-1k", "coco-5k", "pmrp")  # of table 4
Categories = Mapping[int, set[Any]]


def check_names(names: Sequence[str], categories: Path | None) -> list[str]:
    """Return the named benchmarks in the order of table 4. Raises CounterpartError for unknown ones and for none."""
    if unknown := [name for name in names if name not in BENCHMARKS]:
        raise CounterpartError(f"Unknown benchmarks {some_of(unknown)}: choose of {', '.join(ORDER)}.")
    if not names:
        raise CounterpartError(f"Name at least one benchmark: {', '.join(ORDER)}.")
    if "pmrp" in names and categories is None:
        raise CounterpartError("pmrp needs the categories of the images: pass --categories instances_val2014.json.")
    return [name for name in ORDER if name in names]


def evaluate_benchmarks(
    names: Sequence[str],
    paths: Sequence[Path],
    *,
    model: str = "",
    categories: Path | None = None,
    progress: Progress = silent,
) -> Board:
    """Score each file on each benchmark; return the board of them all.

    Raises CounterpartError for unknown benchmarks, files that cannot be read, and rankings that lack queries, with
    their number.
    """
    names = check_names(names, categories)
    shown = read_categories(categories) if categories and "pmrp" in names else {}
    ids = coco_ids()
    scored: dict[str, list[Scored]] = {name: [] for name in names}
    for path in tracked(paths, "models", progress, every=1):
        rankings, called = read_rankings(path, ids), model or path.stem
        for name in names:
            scored[name].append(_scored(name, called, rankings, shown))
    return joined({name: board_from(scored[name]) for name in names})


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
            first = next(ijson.items(file, "annotations.item"), None)
        with path.open("rb") as file:
            if first is None:
                shown: dict[int, set[Any]] = {int(image): set(of) for image, of in ijson.kvitems(file, "")}
            else:
                shown = {}
                for one in ijson.items(file, "annotations.item"):
                    shown.setdefault(int(one["image_id"]), set()).add(one["category_id"])
        if first is not None:
            with path.open("rb") as file:  # images without any object
                for image in ijson.items(file, "images.item.id"):
                    shown.setdefault(int(image), set())
    except (ijson.JSONError, UnicodeDecodeError, ValueError, TypeError, KeyError) as error:
        raise CounterpartError(
            f"{path.name} holds no categories of images. Use COCO's instances_val2014.json, or {{image: [categories]}}."
        ) from error
    return shown


def _scored(name: str, model: str, rankings: Mapping[Direction, Rankings], shown: Categories) -> Scored:
    values, truncated = {}, {}
    for direction, ranked in rankings.items():
        try:
            if name == "pmrp":
                of_zeta = plausible_precision(ranked, *of_gallery(shown, direction.value))
                values[direction] = {"PMRP": np.mean(list(of_zeta.values()), axis=0)}
                continue
            found = find_in(name, direction.value, ranked)
        except ValueError as error:
            raise CounterpartError(f"{model} on {name}, {direction.label}: {error}") from error
        values[direction] = {metric: ALL_METRICS[metric](found) for metric in BENCHMARKS[name]}
        if (cut := truncation_of(found)).queries:
            truncated[direction] = cut
    return scored_from(model, values, truncated)
