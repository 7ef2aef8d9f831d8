"""The output of commands on ECCV Caption's public files. Drawn lists and pictures replace those that are not public.

One empty database, in a process of its own, serves all items.
"""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.fixtures import draw_lists, figures_of, in_own_process, printed_by
from benchmarks.papers.eccv_printed import averages, write_scores
from benchmarks.papers.public_files import (
    MEANINGLESS,
    SEMANTICALLY_WRONG,
    coco_captions,
    import_everything,
    query_files,
)

DEPTH = 50  # of rankings: PMRP looks at most at 50 items, mAP@R of ECCV Caption at 48
KINDS = ("pvse", "vsrn", "pcme", "vilt", "clip")
LEFT_OUT = {"none": (), "18": MEANINGLESS, "all 32": MEANINGLESS + SEMANTICALLY_WRONG}  # of appendix C.1
QUERIES = ("--collection=coco", "--queries=queries")


@cache
def measured(data: Path) -> dict[str, Any]:
    """Return the figures by item, from the folder of public files."""
    return in_own_process(_measure, data)


def _measure(data: Path) -> dict[str, Any]:
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        return {
            **_of_drawn_pictures(),
            "scores": figures_of("analyse", "benchmarks", "--scores", write_scores(averages(), folder / "scores.csv")),
            **_of_public_files(data, folder),
            "overlap": _of_word_overlap(data, folder),
            "round": _whole_round(),
        }


def _of_public_files(data: Path, folder: Path) -> dict[str, Any]:
    """The published dataset as releases of match sources; its clean-up; and a pool of drawn lists on its queries."""
    from corpus.models import Collection

    images, captions = query_files(data, folder)
    import_everything(data, printed_by)
    printed_by("sample_queries", "queries", "--collection=coco", f"--images={images}", f"--captions={captions}")
    released = {}
    for place, (name, unusable) in enumerate(LEFT_OUT.items()):
        (folder / "unusable.txt").write_text("\n".join(map(str, unusable)))
        without = [f"--exclude-captions={folder / 'unusable.txt'}"] if unusable else []
        released[name] = figures_of("release", f"published-{place}", *QUERIES, "--merge=eccv,cxc>=3", *without)
        printed_by("verify", f"published-{place}")
    coco = Collection.objects.get(name="coco")
    draw_lists(coco)
    annotators = ",".join(f"annotator-{number}" for number in range(5))
    pool = figures_of("pool", "five", *QUERIES, f"--annotators={annotators}", "--top-k=5")
    positives = ("--sources=original,cxc>=3", f"--categories={data / 'coco_test_categories.json.gz'}", "--zeta=0,1,2")
    return {
        "released": {row["source"]: row for row in released["none"]["sources"]},
        "left out": {name: (one["t2i"], one["i2t"]) for name, one in released.items()},
        "positives": figures_of("analyse", "positives", "published-0", *positives),
        "pool": pool,
        "clean-up": {below: _doubted(coco, below) for below in (2, 3)},
    }


def _doubted(coco: Any, below: int) -> tuple[int, int]:
    """Return how many originals the clean-up suggests, and how many captions of appendix C.1 they have."""
    from dataset.reviews.cases import queue_of

    printed_by("review", "cleanup", "coco", f"--below={below}")
    captions = {int(case.caption.key) for case in queue_of(coco, "suspicious").select_related("caption")}
    return len(captions), len(captions.intersection(LEFT_OUT["all 32"]))


def _of_word_overlap(data: Path, folder: Path) -> dict[str, Any]:
    """The scores of word overlap on the named benchmarks, as ``evaluate`` prints them."""
    path = folder / "word overlap.npz"
    np.savez(path, **word_overlap(data))
    categories = data / "coco_test_categories.json.gz"
    names = "eccv,cxc,coco-1k,coco-5k,pmrp"
    return figures_of("evaluate", f"--benchmark={names}", f"--rankings={path}", f"--categories={categories}")


def word_overlap(data: Path) -> dict[str, np.ndarray]:
    """Return the rankings of word overlap on COCO's test images, in the arrays that ``evaluate`` reads."""
    from counterpart_annotators.kinds.overlap import OverlapScores

    rows = coco_captions(data)
    captions = np.array([row["caption_id"] for row in rows])
    images, own = np.unique([row["image_id"] for row in rows], return_inverse=True)
    scores = OverlapScores([row["text"] for row in rows], own, len(images))
    every = np.arange(len(images)), np.arange(len(captions))
    of_images = [_first(scores.block(some, every[1]), captions) for some in np.array_split(every[0], 20)]
    of_captions = [_first(scores.block(every[0], some).T, images) for some in np.array_split(every[1], 20)]
    return {
        "i2t_queries": images,
        "i2t_items": np.concatenate(of_images),
        "t2i_queries": captions,
        "t2i_items": np.concatenate(of_captions),
    }


def _first(scores: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return the ids of the best columns of each row, of equal scores the first ones."""
    last = np.partition(scores, -DEPTH, axis=1)[:, -DEPTH, None]
    above, equal = scores > last, scores == last  # argpartition takes any of the equal ones, as the processor likes
    wanted = DEPTH - above.sum(axis=1, keepdims=True)
    chosen = np.nonzero(above | equal & (equal.cumsum(axis=1) <= wanted))[1].reshape(len(scores), DEPTH)
    order = np.argsort(-np.take_along_axis(scores, chosen, axis=1), axis=1, kind="stable")
    return ids[np.take_along_axis(chosen, order, axis=1)]


def _whole_round() -> dict[str, Any]:
    """A round over the published queries: word overlap proposes, a simulated crowd answers from ECCV Caption's
    positives and in the shares of table B.2, and the release merges CxC as the paper does."""
    from annotation.models import Assignment
    from corpus.matches import known_pairs
    from dataset.models import Version
    from hits.models import Round

    printed_by("add_annotator", "overlap", "--kind=overlap")
    printed_by("retrieve", "coco", "--annotators=overlap", "--queries=queries")
    printed_by("pool", "overlap-5", *QUERIES, "--annotators=overlap", "--top-k=5")
    printed_by("pack", "round", "--pool=overlap-5", "--reward=0.65", "--ceiling=5000", "--seed=0")
    printed_by("publish", "round", "--channel=browser", "--skip-missing", "--below-floor")
    printed_by("simulate", "round", "--workers=200", "--truth=eccv", "--seed=0")
    printed_by("aggregate", "round")
    released = figures_of("release", "overlap-v1", *QUERIES, "--rounds=round", "--merge=cxc>=3,original")
    printed_by("verify", "overlap-v1")
    work = Assignment.objects.filter(submitted_at__isnull=False)
    collection = Version.objects.get(name="overlap-v1").collection
    published, found = (
        set(map(tuple, pairs.tolist()))
        for pairs in (known_pairs(collection, "eccv"), known_pairs(collection, "overlap-v1", min_score=1))
    )
    return {
        **Round.objects.get().summary,
        "submissions": work.count(),
        "excluded": work.filter(state=Assignment.State.EXCLUDED).count(),
        "sources": {row["source"]: row for row in released["sources"]},
        "published": len(published),
        "share found": len(published & found) / len(published),
    }


def _of_drawn_pictures() -> dict[str, Any]:
    """The five kinds of annotators, small and trained on drawings: what they find, and PCME's uncertainty."""
    from demo.demo_annotators import add_demo_annotators

    printed_by("demo_collection", "zoo", "--images=60", "--seed=0")
    add_demo_annotators()
    printed_by("sample_queries", "all", "--collection=zoo", "--images=24", "--captions=120", "--seed=0")
    queries = ("--collection=zoo", "--queries=all")
    annotators = f"--annotators={','.join(KINDS)}"
    printed_by("retrieve", "zoo", annotators, "--queries=all")
    return {
        "five": figures_of("pool", "five-kinds", *queries, annotators, "--top-k=5", "--control-depth=10"),
        "uncertainty": figures_of("analyse", "uncertainty", "zoo", "--annotator=pcme", "--matches=truth"),
    }
