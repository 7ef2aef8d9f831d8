"""The named benchmarks on COCO's test images: coco-1k, coco-5k, cxc, eccv and pmrp. Ids are COCO's.

Positives come from the data of the package ``eccv_caption``; those of pmrp from the categories of the images.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np

from counterpart_metrics import binary
from counterpart_metrics.arrays import DIRECTIONS, SIDES, Integers, Lists, Mask, Qrels, Rankings
from counterpart_metrics.binary import mean_over_queries
from counterpart_metrics.errors import CounterpartError
from counterpart_metrics.found import Found, find_each
from counterpart_metrics.plausible import ZETAS, Categories, plausible_precision

RECALLS = ("R@1", "R@5", "R@10")
BENCHMARKS: Mapping[str, tuple[str, ...]] = {
    "coco-1k": RECALLS,
    "coco-5k": RECALLS,
    "cxc": RECALLS,
    "eccv": ("mAP@R", "R-Precision", *RECALLS),
    "pmrp": tuple(f"PMRP ζ={zeta}" for zeta in ZETAS),
}
SOURCES = {"coco-1k": "original", "coco-5k": "original", "cxc": "cxc", "eccv": "eccv"}
FOLDS = 5


def positives(name: str) -> dict[str, Qrels]:
    """Return the matches of a benchmark by direction, ``i2t`` and ``t2i``.

    Raises ValueError for an unknown name, and for pmrp, whose matches ``plausible_matches`` makes of categories.

    >>> {direction: len(found.queries) for direction, found in positives("eccv").items()}
    {'i2t': 1261, 't2i': 1332}
    """
    if name not in SOURCES:
        raise ValueError(f"Unknown benchmark {name!r}; choose {', '.join(SOURCES)}.")
    return {direction: _source(SOURCES[name], direction) for direction in DIRECTIONS}


def score(
    rankings: Mapping[str, Rankings | Lists],
    benchmarks: str | Sequence[str] = ("coco-1k", "coco-5k", "cxc", "eccv"),
    *,
    categories: Categories | None = None,
) -> dict[str, dict[str, dict[str, float]]]:
    """Score a model on named benchmarks: benchmark → metric → direction → mean over queries, in 0..1.

    A match that a list does not hold counts as missed.

    Args:
        rankings: by direction, ``i2t`` and ``t2i`` or one of them; arrays, or {query: items, best first}.
        categories: image → categories of objects in it (COCO's instances), needed for pmrp, which also has the mean
            over ζ as ``PMRP``.

    Raises:
        ValueError: for an unknown benchmark or direction, pmrp without categories, and as ``find`` does.
    """
    names = [benchmarks] if isinstance(benchmarks, str) else list(benchmarks)
    unknown = [name for name in names if name not in BENCHMARKS] + [one for one in rankings if one not in DIRECTIONS]
    if unknown:
        raise ValueError(f"Unknown {', '.join(unknown)}. Benchmarks: {', '.join(BENCHMARKS)}; directions: i2t, t2i.")
    scores: dict[str, dict[str, dict[str, float]]] = {name: {} for name in names}
    for direction, ranked in rankings.items():
        for name, found in _find_all([name for name in names if name != "pmrp"], direction, ranked).items():
            for metric in BENCHMARKS[name]:
                scores[name].setdefault(metric, {})[direction] = mean_over_queries(binary.METRICS[metric](found)).value
        if "pmrp" in names:
            for metric, value in _pmrp(direction, ranked, categories).items():
                scores["pmrp"].setdefault(metric, {})[direction] = value
    return scores


def of_gallery(categories: Categories, direction: str) -> tuple[Categories, Categories]:
    """Return the categories of COCO's test queries and items; a caption has its image's.

    Raises ValueError for images without an entry.
    """
    original = _source("original", "i2t")
    missing = [image for image in original.queries.tolist() if image not in categories]
    if missing:
        raise ValueError(f"{len(missing)} of the 5,000 images have no categories, for example {missing[0]}.")
    images = {image: categories[image] for image in original.queries.tolist()}
    owners = original.queries[original.rows].tolist()
    captions = {caption: categories[image] for caption, image in zip(original.items.tolist(), owners, strict=True)}
    return (images, captions) if direction == "i2t" else (captions, images)


def _pmrp(direction: str, rankings: Rankings | Lists, categories: Categories | None) -> dict[str, float]:
    if categories is None:
        raise ValueError("pmrp needs the categories of the images: pass categories={image: [category, …]}.")
    values = plausible_precision(rankings, *of_gallery(categories, direction))
    means = {f"PMRP ζ={zeta}": mean_over_queries(found).value for zeta, found in values.items()}
    return means | {"PMRP": float(np.mean(list(means.values())))}


def _find_all(names: Sequence[str], direction: str, rankings: Rankings | Lists) -> dict[str, Found]:
    """Find the matches of benchmarks; those of coco-1k among the 1,000 images, or their captions, of the query's fold.

    Rankings are of the whole gallery and read once. All five folds have the same size, so the mean over queries is
    the mean over folds.
    """
    whole = tuple(dict.fromkeys(SOURCES[name] for name in names if name != "coco-1k"))
    folds = folds_of(direction) if "coco-1k" in names else []
    union, masks = _union(whole, direction) if whole else (None, {})
    wanted = [*folds, *([(union, None)] if union else [])]
    # No metric of a benchmark looks below the rank 10, or that of the number of matches.
    most = [int(one.positives.max()) for one in (_source(source, direction) for source in whole)]
    together = find_each(rankings, wanted, depth=max([10, *most]))
    found = {source: together[-1].keep(mask) for source, mask in masks.items()}
    if folds:
        found["folds"] = _joined(positives("coco-1k")[direction], together[: len(folds)])
    return {name: found["folds" if name == "coco-1k" else SOURCES[name]] for name in names}


def _joined(qrels: Qrels, folds: Sequence[Found]) -> Found:
    ranks = np.zeros(len(qrels.items), np.int64)
    lengths = np.zeros(len(qrels.queries), np.int64)
    for found in folds:
        mine = np.isin(qrels.queries, found.qrels.queries)
        ranks[mine[qrels.rows]] = found.ranks
        lengths[mine] = found.lengths
    return Found(qrels, ranks, lengths)


@cache
def _union(sources: tuple[str, ...], direction: str) -> tuple[Qrels, dict[str, Mask]]:
    """Return the matches of any source, and which of them each source has."""
    keys = {}
    for source in sources:
        qrels = _source(source, direction)
        keys[source] = (qrels.queries[qrels.rows] << 32) + qrels.items
    every = np.unique(np.concatenate(list(keys.values())))
    union = Qrels.of_pairs(every >> 32, every & 0xFFFFFFFF)
    return union, {source: np.isin(every, key) for source, key in keys.items()}


@cache
def _source(source: str, direction: str) -> Qrels:
    matches = json.loads((_folder() / f"{source}_{SIDES[direction]}.json").read_bytes())
    return Qrels.of({int(query): items for query, items in matches.items()})


def folds_of(direction: str) -> list[tuple[Qrels, Integers]]:
    """Return the matches and the gallery of each fold of coco-1k."""
    qrels = _source("original", direction)
    t2i = direction == "t2i"
    sides = [(fold[t2i], fold[not t2i]) for fold in _folds()]
    return [(qrels.of_queries(np.isin(qrels.queries, asking)), gallery) for asking, gallery in sides]


def first_captions() -> Integers:
    """Return the first caption of each image in the test split's order."""
    order, owner = _owners()
    return np.sort(order[np.unique(owner, return_index=True)[1]])


@cache
def _folds() -> list[tuple[Integers, Integers]]:
    """Return the images and captions of each fold: consecutive fifths of the captions, in the test split's order."""
    order, owner = _owners()
    return [
        (np.unique(images), captions)
        for images, captions in zip(np.split(owner, FOLDS), np.split(order, FOLDS), strict=True)
    ]


def _owners() -> tuple[Integers, Integers]:
    """Return the captions in the test split's order, and their images."""
    order = np.load(_folder() / "coco_test_ids.npy")
    original = _source("original", "t2i")
    return order, original.items[np.searchsorted(original.queries, order)]


def _folder() -> Path:
    try:
        package = distribution("eccv_caption")  # only its data is used
    except PackageNotFoundError as error:
        raise CounterpartError(
            "The benchmarks' matches are in the package eccv_caption. Run pip install counterpart-metrics[benchmarks]."
        ) from error
    return Path(str(package.locate_file("eccv_caption/data")))
