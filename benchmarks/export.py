"""A million released judgments to every format: python -m benchmarks.export [--pairs N] [--repeats N]

Every export runs in a process of its own, which prints its seconds and its peak of memory. With DATABASE_URL on
PostgreSQL its own COPY writes the same rows in the same run: from a flat table that already holds them, and from the
tables that Counterpart has, by the query that joins them. Pictures are not among it, so mteb is left out.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from urllib.parse import urlsplit

import numpy as np

from benchmarks.fixtures import fresh_database, peak_mb

FORMATS = ("judgments-long", "parquet", "judgments-csv", "croissant", "hf", "qrels", "coco", "eccv-json")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=200_000, help="number of judged pairs, five votes each")
    parser.add_argument("--repeats", type=int, default=3, help="number of repeats (default 3)")
    parser.add_argument("--one", metavar="FORMAT", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(export_once(options.one)))
        return
    with fresh_database():
        measure(options.pairs, options.repeats)


def measure(pairs: int, repeats: int) -> None:
    from django.db import connection

    begun = perf_counter()
    version = release(pairs)
    rows = version.manifest["provenance"]["round"]["votes"] * 18 // 16  # with the answers on controls
    print(f"on {connection.vendor}; {rows:,} judgments made and released in {perf_counter() - begun:.0f} s", flush=True)
    environment = child_environment(connection)
    if connection.vendor == "postgresql":
        make_flat_table(version)
    copies: dict[str, list[float]] = {}
    found: dict[str, list[dict[str, float]]] = {}
    for _ in range(repeats):
        if connection.vendor == "postgresql":
            for name, query in copy_queries().items():
                copies.setdefault(name, []).append(copy_to_file(query))
        for format in FORMATS:
            command = [sys.executable, "-m", "benchmarks.export", "--one", format]
            run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            found.setdefault(format, []).append(json.loads(run.stdout.splitlines()[-1]))
    best = median(copies["COPY of a flat table"]) if copies else None
    for name, seconds in copies.items():
        print(f"{median(seconds):8.2f} s  {rows / median(seconds):12,.0f} rows/s  {name}")
    for format, runs in found.items():
        seconds, start, peak = (median(run[name] for run in runs) for name in ("seconds", "start", "peak"))
        ratio = f"{best / seconds:5.2f} of COPY" if best else ""
        print(f"{seconds:8.2f} s  {rows / seconds:12,.0f} rows/s  {format}: {peak - start:.0f} MB above the "
              f"{start:.0f} MB of a started process  {ratio}", flush=True)  # fmt: skip


def release(pairs: int):
    """Release a million judgments on the queries of all images, each pair proposed by one annotator."""
    from benchmarks.aggregate import make_judged_round  # not in the processes that are measured: it imports pandas
    from core.database.inserts import insert_rows
    from corpus.samples import sample_queries
    from dataset.releases.release import release as release_described
    from dataset.releases.release_parameters import ReleaseParameters
    from hits.models import Item
    from mitl.models import Annotator, Proposal

    judged = make_judged_round(pairs)
    collection = judged.pool.collection
    sample = sample_queries("all", collection=collection, images=collection.images.count(), captions=1)
    columns = ("image_id", "caption_id")
    candidates = Item.objects.filter(control=None).order_by("pk").values_list(*columns)
    image, caption = np.array(list(candidates)).T
    annotator = Annotator.objects.create(name="annotator", kind="files")
    common = {"pool_id": judged.pool_id, "annotator_id": annotator.pk, "direction": "i2t", "score": 0.5}
    insert_rows(Proposal, {"image_id": image, "caption_id": caption, "rank": np.arange(len(image)) % 5 + 1} | common)
    names = {"collection": collection.name, "queries": sample.name, "rounds": (judged.name,)}
    return release_described(ReleaseParameters(version="v1", merge="", partial=True, **names))


def export_once(format: str) -> dict[str, float]:
    """Export in this process; return the seconds, and the memory before and at its peak in MB."""
    import django

    django.setup()
    from dataset.exports import export_version
    from dataset.models import Version

    version = Version.objects.get()
    start = peak_mb()
    begun = perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        export_version(version, format=format, out=Path(folder))
        return {"seconds": perf_counter() - begun, "start": start, "peak": peak_mb()}


def child_environment(connection) -> dict[str, str]:
    """Return the environment of a process that uses the database of this one."""
    if connection.vendor == "sqlite":
        return dict(os.environ)
    url = urlsplit(os.environ["DATABASE_URL"])
    return {**os.environ, "DATABASE_URL": url._replace(path=f"/{connection.settings_dict['NAME']}").geturl()}


def make_flat_table(version) -> None:
    """Load the rows that judgments-long exports into a table of their own, with the numbers as numbers."""
    from django.db import connection

    from dataset.exports import export_version
    from dataset.exports.tables import NUMBERS

    with tempfile.TemporaryDirectory() as folder, connection.cursor() as cursor:
        (path,) = export_version(version, format="judgments-long", out=Path(folder))
        with path.open() as file:
            names = file.readline().strip().split(",")
            columns = ", ".join(f"{name} {'integer' if name in NUMBERS else 'text'}" for name in names)
            cursor.execute(f"CREATE TABLE flat ({columns})")
            cursor.copy_expert("COPY flat FROM STDIN WITH (FORMAT csv)", file)
        cursor.execute("ANALYZE flat")


def copy_queries() -> dict[str, str]:
    joined = """(
        SELECT r.name, h.number, a.id, i.place, coalesce(c.polarity, ''), w.pseudonym, m.key, t.key, j.level,
            j.shortcoming, j.wrong_way, j.at, a.active_seconds, r.wording, a.channel, w.simulated, a.state, r.seed
        FROM annotation_judgment j JOIN annotation_assignment a ON a.id = j.assignment_id
        JOIN hits_item i ON i.id = j.item_id LEFT JOIN hits_control c ON c.id = i.control_id
        JOIN hits_hit h ON h.id = a.hit_id JOIN hits_round r ON r.id = h.round_id
        JOIN annotation_worker w ON w.id = j.worker_id
        JOIN corpus_image m ON m.id = j.image_id JOIN corpus_caption t ON t.id = j.caption_id
        ORDER BY h.number, a.id, i.place)"""
    return {"COPY of a flat table": "flat", "COPY of the joined tables, in order": joined}


def copy_to_file(source: str) -> float:
    """Let PostgreSQL write the rows as CSV into a file of ours; return the seconds."""
    from django.db import connection

    begun = perf_counter()
    with tempfile.NamedTemporaryFile() as file, connection.cursor() as cursor:
        cursor.copy_expert(f"COPY {source} TO STDOUT WITH (FORMAT csv, HEADER)", file)
    return perf_counter() - begun


if __name__ == "__main__":
    main()
