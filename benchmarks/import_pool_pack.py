"""From a caption file to packed HITs at ECCV Caption's size: python -m benchmarks.import_pool_pack CAPTIONS.jsonl.gz

Imports the captions, pools the top-5 lists of five machines for 1,261 image and 1,333 caption queries (64,850
proposals, about 46,400 pairs) and packs them by eccv-18. The lists are drawn at random, each machine choosing
among the 30 likeliest items of a query, which gives the paper's share of duplicates. Set DATABASE_URL to
measure PostgreSQL. Beside each step stands its peer: a bare bulk insert of as many rows into an empty table.
"""

import argparse
from pathlib import Path

from benchmarks.bare_inserts import insert_bare
from benchmarks.drawn_lists import draw_lists
from benchmarks.ground import Stopwatch, fresh_house

IMAGES, CAPTIONS = 1_261, 1_333


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
        seconds = insert_bare(model.objects.all())
        print(f"{seconds:8.2f} s    bare insert of the rows of {model._meta.db_table}")
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


if __name__ == "__main__":
    main()
