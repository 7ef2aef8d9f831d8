"""From a caption file to packed HITs at ECCV Caption's size: python -m benchmarks.import_pool_pack CAPTIONS.jsonl.gz

Imports the captions, pools the top-5 lists of five annotators for 1,261 image and 1,333 caption queries (64,850
proposals, about 46,400 pairs) and packs them with eccv-18. The lists are random: each annotator chooses from the
30 likeliest items of a query, which gives the paper's share of duplicates. Set DATABASE_URL to measure PostgreSQL.
The baseline of each step is a bare bulk insert of the same rows into an empty table.
"""

import argparse
from pathlib import Path

from benchmarks.bare_inserts import insert_bare
from benchmarks.fixtures import Stopwatch, draw_lists, fresh_database

IMAGES, CAPTIONS = 1_261, 1_333


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("captions", type=Path, help="a JSONL file of captions, plain or .gz")
    captions: Path = parser.parse_args().captions
    with fresh_database():
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
        seconds = insert_bare(model.objects.all())
        print(f"{seconds:8.2f} s    bare insert of the rows of {model._meta.db_table}")
    print(Round.objects.get().summary)


def build_round(captions: Path, watch: Stopwatch) -> None:
    """Import, pool and pack with the commands."""
    from django.core.management import call_command

    from corpus.models import Collection
    from mitl.models import Annotator

    with watch.step("import_collection: images, captions and original matches"):
        call_command("import_collection", "coco", str(captions), "--format=jsonl")
    collection = Collection.objects.get()
    call_command("sample_queries", "queries", "--collection=coco", f"--images={IMAGES}", f"--captions={CAPTIONS}")
    draw_lists(collection)
    annotators = ",".join(Annotator.objects.values_list("name", flat=True))
    with watch.step("pool"):
        call_command("pool", "pool", "--collection=coco", f"--annotators={annotators}", "--queries=queries")
    with watch.step("pack"):
        call_command("pack", "round", "--pool=pool", "--ceiling=5000")


if __name__ == "__main__":
    main()
