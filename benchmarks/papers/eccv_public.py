"""The output of commands on ECCV Caption's public files. Drawn lists and pictures replace those that are not public.

One empty database, in a process of its own, serves all items of the chapter.
"""

import json
from collections.abc import Callable
from functools import cache
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.eccv_caption import MEANINGLESS, SEMANTICALLY_WRONG, import_everything, query_files
from benchmarks.fixtures import draw_lists, in_own_process
from benchmarks.papers.eccv_printed import averages, write_scores

Run = Callable[..., Any]
DEPTH = 50  # of rankings: PMRP looks at most at 50 items, mAP@R of ECCV Caption at 48
KINDS = ("pvse", "vsrn", "pcme", "vilt", "clip")


@cache
def measured(data: Path) -> dict[str, Any]:
    """Return the figures of the chapter by item, from the folder of public files."""
    return in_own_process(_measure, data)


def _measure(data: Path) -> dict[str, Any]:
    from django.core.management import call_command

    def run(command: str, *arguments: object, figures: bool = True) -> Any:
        out = StringIO()
        call_command(command, *map(str, arguments), *(["--json"] if figures else []), stdout=out)
        return json.loads(out.getvalue()) if figures else out.getvalue()

    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        return {
            **_of_drawn_pictures(run),
            "scores": run("analyse", "benchmarks", "--scores", write_scores(averages(), folder / "scores.csv")),
            **_of_public_files(data, folder, run),
            "overlap": _of_word_overlap(data, folder, run),
        }


def _of_public_files(data: Path, folder: Path, run: Run) -> dict[str, Any]:
    """The published dataset as a release of match sources; its clean-up; and a pool of drawn lists on its queries."""
    from corpus.models import Collection

    images, captions = query_files(data, folder)
    import_everything(data, lambda *arguments: run(*arguments, figures=False))
    queries = ("--collection=coco", "--queries=queries")
    run("sample_queries", "queries", "--collection=coco", f"--images={images}", f"--captions={captions}")
    released = run("release", "published", *queries, "--merge=eccv,cxc>=3")
    coco = Collection.objects.get(name="coco")
    draw_lists(coco)
    annotators = ",".join(f"annotator-{number}" for number in range(5))
    pool = run("pool", "five", *queries, f"--annotators={annotators}", "--top-k=5")
    categories = data / "coco_test_categories.json.gz"
    return {
        "released": {row["source"]: row for row in released["sources"]},
        "positives": run(
            "analyse", "positives", "published", "--sources=original,cxc>=3",
            f"--categories={categories}", "--zeta=0,1,2",
        ),
        "pool": pool,
        "clean-up": {below: _doubted(coco, below, run) for below in (2, 3)},
    }  # fmt: skip


def _doubted(coco: Any, below: int, run: Run) -> tuple[int, int]:
    """Return how many originals the clean-up suggests, and how many captions of appendix C.1 they have."""
    from dataset.reviews.cases import queue_of

    run("review", "cleanup", "coco", f"--below={below}")
    captions = {int(case.caption.key) for case in queue_of(coco, "suspicious").select_related("caption")}
    return len(captions), len(captions & {*MEANINGLESS, *SEMANTICALLY_WRONG})


def _of_word_overlap(data: Path, folder: Path, run: Run) -> dict[str, Any]:
    """The scores of word overlap on the named benchmarks, as ``evaluate`` prints them."""
    path = folder / "word overlap.npz"
    np.savez(path, **word_overlap(data))
    categories = data / "coco_test_categories.json.gz"
    names = "eccv,cxc,coco-1k,coco-5k,pmrp"
    return run("evaluate", f"--benchmark={names}", f"--rankings={path}", f"--categories={categories}")


def word_overlap(data: Path) -> dict[str, np.ndarray]:
    """Return the rankings of word overlap on COCO's test images, in the arrays that ``evaluate`` reads."""
    import gzip

    from counterpart_annotators.kinds.overlap import OverlapScores

    with gzip.open(data / "coco_test_captions.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
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
    """Return the ids of the best columns of each row, of equal scores the first one."""
    chosen = np.sort(np.argpartition(-scores, DEPTH, axis=1)[:, :DEPTH], axis=1)
    order = np.argsort(-np.take_along_axis(scores, chosen, axis=1), axis=1, kind="stable")
    return ids[np.take_along_axis(chosen, order, axis=1)]


def _of_drawn_pictures(run: Run) -> dict[str, Any]:
    """The five kinds of annotators, small and trained on drawings: what they find, and PCME's uncertainty."""
    from demo.demo_annotators import add_demo_annotators

    run("demo_collection", "zoo", "--images=60", "--seed=0", figures=False)
    add_demo_annotators()
    run("sample_queries", "all", "--collection=zoo", "--images=24", "--captions=120", "--seed=0")
    queries = ("--collection=zoo", "--queries=all")
    annotators = f"--annotators={','.join(KINDS)}"
    run("retrieve", "zoo", annotators, "--queries=all", figures=False)
    return {
        "five": run("pool", "five-kinds", *queries, annotators, "--top-k=5", "--control-depth=10"),
        "uncertainty": run("analyse", "uncertainty", "zoo", "--annotator=pcme", "--matches=truth"),
    }
