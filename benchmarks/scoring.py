"""What it costs to score embeddings, beside the lists of the same ranking: python -m benchmarks.scoring DATA

DATA is the folder of public files of docs/eccv-caption.md. Embeddings are drawn, 128 numbers each: a caption's lie
near its image's. ``evaluate`` scores them on ECCV Caption's queries as an .npz of all 5,000 images and 25,000
captions, and as JSON with the first 100 items of each of the 2,593 queries; each as a new model in a process of its
own. Prints the processor time (median) and the largest memory of the process, and whether both have the same scores.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.eccv_caption import query_files

DIMENSIONS, DEPTH = 128, 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder of public files")
    parser.add_argument("--repeats", type=int, default=3, help="repeats of each (default 3)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compare(options.data, Path(folder), options.repeats)


def compare(data: Path, folder: Path, repeats: int) -> None:
    os.environ.update(VAR_DIR=str(folder / "var"), DATABASE_URL="", REDIS_URL="")
    captions = data / "coco_test_captions.jsonl.gz"
    manage("migrate")
    manage("import_collection", "coco", captions, "--format=jsonl")
    for name in ("eccv_image_to_caption", "eccv_caption_to_image"):
        manage("import_matches", "coco", data / "eccv_caption" / f"{name}.json", "--source=eccv", "--skip-unknown")
    asked = query_files(data, folder)
    manage("sample_queries", "eccv", "--collection=coco", f"--images={asked[0]}", f"--captions={asked[1]}")
    manage("release", "public", "--collection=coco", "--queries=eccv", "--merge=eccv")
    write_rankings(captions, asked, folder)
    files = ("lists.json", "embeddings.npz")
    measured = {
        name: [
            manage("evaluate", "--version=public", "--rankings", folder / name, f"--model={name} {number}", "--json")
            for number in range(repeats)
        ]
        for name in files
    }
    costs = {name: (median(one[0] for one in found), max(one[1] for one in found)) for name, found in measured.items()}
    for name, (seconds, size) in costs.items():
        print(f"{name:15} {seconds:6.1f} s of processor time, {size:6.0f} MB")
    lists, embeddings = (costs[name] for name in files)
    print(f"embeddings / lists: {embeddings[0] / lists[0]:.2f} in time, {embeddings[1] / lists[1]:.2f} in memory")
    print("same scores:", len({scores_of(one[2]) for found in measured.values() for one in found}) == 1)


def manage(command: str, *arguments: object) -> tuple[float, float, str]:
    """Run a command; return its processor time in seconds, its largest memory in MB, and what it printed."""
    typed = [sys.executable, "manage.py", command, *map(str, arguments)]
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(typed, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{' '.join(typed)} failed.")
        out.seek(0)
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out.read()


def scores_of(printed: str) -> str:
    """Return the figures of one model, without its name and notes."""
    ((_, found),) = json.loads(printed).items()
    return json.dumps({part: figures for part, figures in found.items() if part != "notes"})


def write_rankings(captions: Path, asked: tuple[Path, Path], folder: Path) -> None:
    """Write embeddings of all images and captions, and the first items that they rank for the queries."""
    from counterpart_topk import topk_of_products

    with gzip.open(captions, "rt") as lines:
        owner = {row["caption_id"]: row["image_id"] for row in map(json.loads, lines)}
    rng = np.random.default_rng(0)
    ids = np.unique(list(owner.values())), np.array(list(owner))
    images = rng.standard_normal((len(ids[0]), DIMENSIONS), np.float32)
    noise = rng.standard_normal((len(ids[1]), DIMENSIONS), np.float32)
    sides = images, images[np.searchsorted(ids[0], list(owner.values()))] + 1.5 * noise
    np.savez(folder / "embeddings.npz", image_ids=ids[0], images=sides[0], caption_ids=ids[1], captions=sides[1])
    lists = {}
    for direction, side in (("i2t", 0), ("t2i", 1)):
        wanted = np.flatnonzero(np.isin(ids[side], np.loadtxt(asked[side], np.int64)))
        places, _ = topk_of_products(sides[side][wanted], sides[1 - side], DEPTH)
        found = ids[1 - side][places].tolist()
        lists[direction] = dict(zip(ids[side][wanted].tolist(), found, strict=True))
    (folder / "lists.json").write_text(json.dumps(lists))


if __name__ == "__main__":
    main()
