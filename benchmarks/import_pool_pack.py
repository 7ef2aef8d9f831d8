"""From a caption file to packed HITs at ECCV Caption's size: python -m benchmarks.import_pool_pack CAPTIONS.jsonl.gz

Imports the captions, pools the top-5 lists of five machines for 1,261 image and 1,333 caption queries (64,850
proposals, about 46,400 pairs) and packs them by eccv-18. The lists are drawn at random, each machine choosing
among the 30 likeliest items of a query, which gives the paper's share of duplicates. Set DATABASE_URL to
measure PostgreSQL. Beside each step stands its peer: a bare bulk insert of as many rows into an empty table.
"""

import argparse
from pathlib import Path

import numpy as np

from benchmarks.ground import Stopwatch, fresh_house

IMAGES, CAPTIONS, MACHINES, DEPTH, LIKELY = 1_261, 1_333, 5, 25, 30
ROWS_A_STATEMENT = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("captions", type=Path, help="a JSONL file of captions, plain or .gz")
    captions: Path = parser.parse_args().captions
    with fresh_house():
        measure(captions)


def measure(captions: Path) -> None:
    from django.db import connection

    from corpus.models import Caption, Image
    from hits.models import Item, Round
    from mitl.models import Proposal

    watch = Stopwatch()
    print(f"on {connection.vendor}")
    build_round(captions, watch)
    for model in (Image, Caption, Proposal, Item):
        insert_bare(model, watch)
    print(Round.objects.get().summary)


def build_round(captions: Path, watch: Stopwatch) -> None:
    """Import, pool and pack, by the commands that people use."""
    from django.core.management import call_command

    from corpus.models import Collection
    from mitl.models import Annotator

    with watch.step("import_collection: images, captions and original matches"):
        call_command("import_collection", "coco", str(captions), "--format=jsonl")
    collection = Collection.objects.get()
    call_command("sample_queries", "queries", "--collection=coco", f"--images={IMAGES}", f"--captions={CAPTIONS}")
    draw_lists(collection)
    machines = ",".join(Annotator.objects.values_list("name", flat=True))
    with watch.step("pool"):
        call_command("pool", "pool", "--collection=coco", f"--annotators={machines}", "--queries=queries")
    with watch.step("pack"):
        call_command("pack", "round", "--pool=pool", "--ceiling=5000")


def draw_lists(collection) -> None:
    """Store a retrieval of every machine over the sample's queries."""
    from mitl.gallery import open_gallery
    from mitl.lists import RankedLists, store_lists
    from mitl.models import Annotator, Direction, Retrieval
    from mitl.retrieval import fingerprint

    rng = np.random.default_rng(0)
    sample = collection.samples.get()
    images, captions = (
        np.array(rows.values_list("pk", flat=True)) for rows in (collection.images, collection.captions)
    )
    sides = {
        Direction.IMAGE_TO_CAPTION: (np.array(sample.images.values_list("pk", flat=True)), captions),
        Direction.CAPTION_TO_IMAGE: (np.array(sample.captions.values_list("pk", flat=True)), images),
    }
    likely = {
        side: np.stack([rng.choice(items, LIKELY, replace=False) for _ in queries])
        for side, (queries, items) in sides.items()
    }
    gallery = open_gallery(collection, sample)
    for number in range(MACHINES):
        lists = {
            side: RankedLists(
                queries,
                rng.permuted(likely[side], axis=1)[:, :DEPTH],
                -np.sort(-rng.random((len(queries), DEPTH)).astype(np.float32), axis=1),
            )
            for side, (queries, _) in sides.items()
        }
        artefact = store_lists(f"retrievals/machine-{number}", lists)
        machine = Annotator.objects.create(name=f"machine-{number}", kind="files")
        Retrieval.objects.create(
            annotator=machine, fingerprint=fingerprint(machine, gallery),
            collection=collection, sample=sample, depth=DEPTH, engine="blocked",
            artefact=artefact.path, sha256=artefact.sha256, seconds=0,
        )  # fmt: skip


def insert_bare(model, watch: Stopwatch) -> None:
    """Insert the table's own rows once more into a bare copy of it, without constraints, indexes or models."""
    from django.db import connection, transaction

    table = model._meta.db_table
    columns = [field.column for field in model._meta.concrete_fields]
    rows = list(model.objects.order_by().values_list(*[field.attname for field in model._meta.concrete_fields]))
    place = f"({', '.join(['%s'] * len(columns))})"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE bare_{table} AS SELECT * FROM {table} LIMIT 0")
        with watch.step(f"  bare insert of {len(rows):,} rows of {table}"), transaction.atomic():
            for start in range(0, len(rows), ROWS_A_STATEMENT):
                some = rows[start : start + ROWS_A_STATEMENT]
                cursor.execute(
                    f"INSERT INTO bare_{table} ({', '.join(columns)}) VALUES {', '.join([place] * len(some))}",
                    [value for row in some for value in row],
                )


if __name__ == "__main__":
    main()
