"""The public files of COCO's test captions, CxC and ECCV Caption, and how a site imports them."""

import csv
import gzip
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

# Appendix C.1 of ECCV Caption: captions that say no picture was shown, and captions that are wrong for their picture.
MEANINGLESS = (
    607516, 607486, 433639, 248212, 469834, 462530, 469102, 743575, 246706,
    61717, 500797, 19273, 630298, 576409, 390637, 296557, 450553, 44809,
)  # fmt: skip
SEMANTICALLY_WRONG = (
    610564, 359139, 218995, 609235, 143250, 375316, 712683, 75083, 625605, 620511, 613949, 129825, 605566, 634829,
)  # fmt: skip
QUERIES = {"images": "eccv_image_to_caption", "captions": "eccv_caption_to_image"}
"""The files of ECCV Caption's positives by the side that asks."""


@cache
def coco_captions(data: Path) -> list[dict[str, Any]]:
    """Return the 25,000 captions of COCO's test images in the order of the Karpathy split, five an image."""
    with gzip.open(data / "coco_test_captions.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def positives(data: Path) -> dict[str, set[tuple[int, int]]]:
    """Return ECCV Caption's positives (image, caption) by the side that asks."""
    listed = {side: json.loads((data / f"eccv_caption/{name}.json").read_text()) for side, name in QUERIES.items()}
    return {
        "images": {(int(image), caption) for image, found in listed["images"].items() for caption in found},
        "captions": {(image, int(caption)) for caption, found in listed["captions"].items() for image in found},
    }


def cxc_scores(data: Path) -> dict[tuple[int, int], float]:
    """Return (image, caption) → CxC's score."""
    with gzip.open(data / "cxc/sits_test.csv.gz", "rt", newline="") as file:
        return {
            (int(row["image"][-16:-4]), int(row["caption"].rsplit(":", 1)[1])): float(row["agg_score"])
            for row in csv.DictReader(file)
        }


def query_files(data: Path, folder: Path) -> tuple[Path, Path]:
    """Write ECCV Caption's query images and captions, one id per line."""
    files = {side: folder / f"{side}.txt" for side in QUERIES}
    for side, name in QUERIES.items():
        files[side].write_text("\n".join(json.loads((data / f"eccv_caption/{name}.json").read_text())) + "\n")
    return files["images"], files["captions"]


def import_everything(data: Path, run: Callable[..., Any]) -> None:
    """Import the captions and all public matches."""
    run("import_collection", "coco", data / "coco_test_captions.jsonl.gz", "--format=jsonl")
    run("import_collection", "coco", data / "coco_test_extra_captions.jsonl", "--format=jsonl", "--append")
    for name in QUERIES.values():
        run("import_matches", "coco", data / "eccv_caption" / f"{name}.json", "--source=eccv", "--skip-unknown")
    run("import_matches", "coco", data / "cxc" / "sits_test.csv.gz", "--source=cxc")
