"""A gallery beyond rows, stage by stage: python -m benchmarks.beyond_rows [--images N] [--captions N] [--write]

Draws items with embeddings (unit vectors, float16), writes them as Parquet and .npy, and runs the commands from
import_gallery to pack for 1,261 image and 1,333 caption queries, each in a process of its own: seconds, and the most
memory that a process of the stage had. With several --engines, each makes the search again; with --write the table
goes into docs/benchmarks.md. Needs about 6 D bytes an item on the disk of --folder. Set DATABASE_URL for PostgreSQL.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path
from subprocess import PIPE, Popen
from time import perf_counter

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from benchmarks.doc_tables import write_tables

ROOT = Path(__file__).resolve().parent.parent
IMAGES, CAPTIONS = 1_261, 1_333  # queries
AT_ONCE = 1_000_000  # items a file
OVER = ("coco", "--annotators", "theirs", "--queries", "queries", "--gallery", "web")
Row = tuple[str, float, float]  # stage, seconds, MB


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=10_000_000)
    parser.add_argument("--captions", type=int, default=10_000_000)
    parser.add_argument("--dimensions", type=int, default=128)
    parser.add_argument("--engines", default="local", help="engines of the search, the first for the pool: local,ray")
    parser.add_argument("--folder", type=Path, help="where to work (default: a temporary folder)")
    parser.add_argument("--write", action="store_true", help="write the table of docs/benchmarks.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        rows = measure(Path(folder), options)
    lines = [f"| {stage} | {seconds:,.1f} | {megabytes:,.0f} |" for stage, seconds, megabytes in rows]
    table = "\n".join(["| stage | seconds | MB |", "|---|---|---|", *lines])
    print(table)
    if options.write:
        write_tables("beyond_rows", table)


def measure(folder: Path, options: argparse.Namespace) -> list[Row]:
    """Draw everything, run the commands, and return a row for each."""
    # In another process: the memory of a process that starts others counts as theirs.
    drawing = get_context("spawn").Process(target=draw, args=(folder, options))
    drawing.start()
    drawing.join()
    run(folder, "migrate", "--verbosity", "0")
    run(folder, "import_collection", "coco", folder / "queries.jsonl", "--format", "jsonl")
    run(folder, "sample_queries", "queries", "--collection", "coco", "--images", IMAGES, "--captions", CAPTIONS)
    run(folder, "add_annotator", "theirs", "--kind", "files", "--checkpoint", folder / "queries.npz")
    rows = [run(folder, "import_gallery", "web", folder / "items", "--collection", "coco")]
    rows.append(run(folder, "import_embeddings", "web", "theirs", folder / "embeddings"))
    shutil.rmtree(folder / "embeddings")
    for engine in reversed(options.engines.split(",")):
        if len(rows) > 2:
            run(folder, "remove", "retrieval", len(rows) - 2, "--yes")
        how = () if engine == "local" else ("--engine-on", engine, "--wait")
        _, seconds, megabytes = run(folder, "retrieve", *OVER, *how)
        rows.append((f"retrieve, {engine}", seconds, megabytes))
    rows.append(run(folder, "pool", "pool", "--collection", *OVER))
    rows.append(run(folder, "pack", "round", "--pool", "pool", "--ceiling", "5000"))
    return rows


def run(folder: Path, command: str, *arguments: object) -> Row:
    """Run a command of manage.py to its end, and return its name, seconds and the memory of its largest process."""
    begun = perf_counter()
    process = Popen(
        [sys.executable, "manage.py", command, *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | {"VAR_DIR": str(folder / "var")},
        stdout=PIPE,
    )
    assert process.stdout
    said = process.stdout.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command} failed")
    row = command, perf_counter() - begun, usage.ru_maxrss / 1024
    print(f"{row[1]:8.1f} s {row[2]:8.0f} MB  {command}: {said.strip().replace(chr(10), '; ')}", flush=True)
    return row


def draw(folder: Path, options: argparse.Namespace) -> None:
    draw_queries(folder, options.dimensions)
    for side, n in (("images", options.images), ("captions", options.captions)):
        draw_items(folder / "items", side, n, options.images)
        draw_embeddings(folder / "embeddings", side, n, options.dimensions)


def draw_queries(folder: Path, dimensions: int) -> None:
    """Write a collection of as many images with a caption each as there are query captions, and their embeddings."""
    rng = np.random.default_rng(0)
    numbers = range(CAPTIONS)
    lines = [
        json.dumps({"caption_id": n, "image_id": n, "file_name": f"{n}.jpg", "text": f"a query, number {n}"})
        for n in numbers
    ]
    (folder / "queries.jsonl").write_text("\n".join(lines))
    sides = {side: unit_vectors(rng, CAPTIONS, dimensions) for side in ("images", "captions")}
    ids = np.array(numbers)
    np.savez(folder / "queries.npz", allow_pickle=False, image_ids=ids, caption_ids=ids, **sides)


def draw_items(folder: Path, side: str, n: int, n_images: int) -> None:
    folder.mkdir(exist_ok=True)
    for number, first in enumerate(range(0, n, AT_ONCE)):
        places = range(first, min(first + AT_ONCE, n))
        columns: dict[str, Sequence[object]] = {"key": [f"{side}-{place:010}" for place in places]}
        if side == "captions":
            columns["text"] = [f"a photograph of something, number {place}" for place in places]
            columns["image"] = [place % n_images for place in places]
        parquet.write_table(pa.table(columns), folder / f"{side}-{number:05}.parquet")


def draw_embeddings(folder: Path, side: str, n: int, dimensions: int) -> None:
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng([1, len(side)])
    for number, first in enumerate(range(0, n, AT_ONCE)):
        rows = unit_vectors(rng, min(AT_ONCE, n - first), dimensions)
        np.save(folder / f"{side}-{number:05}.npy", rows.astype(np.float16))


def unit_vectors(rng: np.random.Generator, n: int, dimensions: int) -> np.ndarray:
    rows = rng.standard_normal((n, dimensions), np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


if __name__ == "__main__":
    main()
