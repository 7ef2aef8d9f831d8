"""Named benchmarks scored by us and by eccv_caption: python -m benchmarks.metrics [--random] [--cut] [--peers]

One process, both in turn, on the same rankings of COCO's 5,000 test images and 25,000 captions: full ones in both
directions (250 million places), then lists cut at the smallest depth that the package can take. Every figure that both
have, COCO 1K included: R@1, R@5, R@10 on coco-1k, coco-5k, cxc and eccv, mAP@R and R-Precision on eccv. Ours takes
arrays or lists in dictionaries, the package lists only. Figures are medians; the scores must agree. With --peers ours
is timed with ranx, pytrec_eval and ir_measures instead (benchmarks.metric_peers).
"""

import argparse
import os
from statistics import median
from sys import getsizeof

os.environ["TQDM_DISABLE"] = "1"  # the package draws bars, whatever the options

import numpy as np
from eccv_caption import Metrics

from benchmarks.fixtures import measured
from counterpart_metrics import Qrels, Rankings, positives, score

RECALLS = ["coco_1k_recalls", "coco_5k_recalls", "cxc_recalls", "eccv_recalls"]
ECCV = ["eccv_map_at_r", "eccv_rprecision"]
Lists = dict[int, list[int]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", action="store_true", help="rankings in random order instead of a model's")
    parser.add_argument("--cut", action="store_true", help="cut lists only; full ones take minutes")
    parser.add_argument("--peers", action="store_true", help="with ranx, pytrec_eval and ir_measures instead")
    parser.add_argument("--repeats", type=int, default=3, help="repeats of each (default 3)")
    options = parser.parse_args()
    if options.peers:
        from benchmarks import metric_peers

        metric_peers.compare_peers(make_rankings(options.random, raised=1.3), options.repeats)
        return
    package = Metrics()
    arrays = make_rankings(options.random)
    depth = max(int(found.positives.max()) for found in positives("eccv").values())
    if not options.cut:
        compare("full", package, arrays, options.repeats)
    cut = {d: Rankings(one.queries, np.ascontiguousarray(one.items[:, :depth])) for d, one in arrays.items()}
    compare(f"first {depth}", package, cut, options.repeats)
    too_short = [{q: items[: depth // 2] for q, items in one.items()} for one in as_lists(cut)]
    try:
        their_scores(package, too_short)
        print(f"first {depth // 2}: the package gives scores")
    except IndexError as error:
        print(f"first {depth // 2}: the package raises IndexError ({error})")


def make_rankings(random: bool, raised: float = 2) -> dict[str, Rankings]:
    """Rank by noise; as a model's, each benchmark raises its matches by ``raised`` deviations."""
    sides = positives("coco-5k")
    images, captions = sides["i2t"].queries, sides["t2i"].queries
    table = np.random.default_rng(0).standard_normal((len(images), len(captions)), np.float32)
    for name in () if random else ("coco-5k", "cxc", "eccv"):
        found = positives(name)
        raise_matches(table, images, captions, found["i2t"], raised)
        raise_matches(table.T, captions, images, found["t2i"], raised)
    return {
        "i2t": Rankings.of_similarity(table, images, captions),
        "t2i": Rankings.of_similarity(table.T, captions, images),
    }


def raise_matches(table: np.ndarray, queries: np.ndarray, items: np.ndarray, matches: Qrels, raised: float) -> None:
    known = np.isin(matches.items, items)
    rows = np.searchsorted(queries, matches.queries[matches.rows[known]])
    table[rows, np.searchsorted(items, matches.items[known])] += raised


def compare(title: str, package: Metrics, arrays: dict[str, Rankings], repeats: int) -> None:
    lists, to_lists, _ = measured(lambda: as_lists(arrays))
    score(arrays)  # compiles, and reads the positives; the package read its own above
    ours, theirs, from_lists = [], [], []
    for _ in range(repeats):
        ours.append(measured(lambda: score(arrays)))
        theirs.append(measured(lambda: their_scores(package, lists)))
        from_lists.append(measured(lambda: score({"i2t": lists[0], "t2i": lists[1]})))
    agree = max(difference(one[0], theirs[0][0]) for one in (*ours, *from_lists))
    seconds, their_seconds = median(one[1] for one in ours), median(one[1] for one in theirs)
    list_seconds = median(one[1] for one in from_lists)
    ratios = sorted(other[1] / one[1] for one, other in zip(ours, theirs, strict=True))
    size = sum(one.items.nbytes for one in arrays.values())
    their_size = sum(getsizeof(items) for one in lists for items in one.values())
    print(f"{title}: largest difference of a score {agree:.1e}")
    print(f"  ours    {seconds:8.2f} s, {max(one[2] for one in ours):6.0f} MB beyond {size / 2**20:,.0f} MB of arrays")
    print(
        f"  package {their_seconds:8.2f} s, {max(one[2] for one in theirs):6.0f} MB beyond "
        f"{their_size / 2**20:,.0f} MB of lists"
    )
    print(f"  package / ours {median(ratios):.1f} ({ratios[0]:.1f} to {ratios[-1]:.1f})")
    print(
        f"  ours from its lists {list_seconds:.2f} s, {max(one[2] for one in from_lists):.0f} MB: package / ours "
        f"{their_seconds / list_seconds:.1f}; arrays to lists {to_lists:.2f} s: package with it / ours "
        f"{(their_seconds + to_lists) / seconds:.1f}"
    )


def as_lists(arrays: dict[str, Rankings]) -> list[Lists]:
    """As the package wants them. All lists share their numbers, which is the least memory that they can take."""
    lists = []
    for one in arrays.values():
        ids = np.unique(one.items[0]) if one.items.shape[1] > 1000 else np.unique(one.items)
        shared = np.array(ids.tolist(), object)
        lists.append(
            {
                query: shared[np.searchsorted(ids, row)].tolist()
                for query, row in zip(one.queries.tolist(), one.items, strict=True)
            }
        )
    return lists


def their_scores(package: Metrics, lists: list[Lists]) -> dict[str, dict[str, float]]:
    return package.compute_all_metrics(*lists, target_metrics=RECALLS) | package.compute_all_metrics(
        *lists, target_metrics=ECCV
    )


def difference(ours: dict, theirs: dict) -> float:
    """The largest difference between two programs' scores."""
    names = {"mAP@R": "map_at_r", "R-Precision": "rprecision", "R@1": "r1", "R@5": "r5", "R@10": "r10"}
    return max(
        abs(value - theirs[f"{benchmark.replace('-', '_')}_{names[metric]}"][direction])
        for benchmark, metrics in ours.items()
        for metric, both in metrics.items()
        for direction, value in both.items()
    )


if __name__ == "__main__":
    main()
