"""750,000 proposals pooled and packed into HITs in the database: python -m benchmarks.pool [--queries N] [--repeats N]

30,000 queries (5,000 images and 25,000 captions, five captions per image) to five annotators, the top 5 of each, packed
with eccv-18. Set DATABASE_URL to measure PostgreSQL. The baselines, in the same run, are bulk inserts of the same rows
by plain statements of 100 rows: into tables without constraints or indexes, and into tables with ours. Figures
are medians over the repeats; each repeat makes another pool and round in the same database.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable
from decimal import Decimal
from statistics import median
from time import perf_counter

import numpy as np

from benchmarks.bare_inserts import insert_bare
from benchmarks.fixtures import draw_lists, fresh_database, peak_mb

IMAGES, CAPTIONS_EACH = 5_000, 5
SIDES = CAPTIONS_EACH + 1  # queries per image: the image and its captions
BLANK = {"file": "", "sha256": "", "split": "", "look": ""}
BARE, HELD = "bare inserts of the same rows", "the same inserts under our constraints"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--queries", type=int, default=IMAGES * SIDES, help="queries, one sixth of them images (default 30,000)"
    )
    parser.add_argument("--repeats", type=int, default=3, help="number of repeats (default 3)")
    options = parser.parse_args()
    with fresh_database():
        measure(options.queries, options.repeats)


def measure(queries: int, repeats: int) -> None:
    from django.db import connection

    draw_lists(make_collection(queries))
    print(f"on {connection.vendor}; {peak_mb():.0f} MB peak before the start", flush=True)
    figures: dict[str, list[float]] = defaultdict(list)
    for number in range(repeats):
        packed, seconds = pool_and_pack(f"r{number}")
        if not number:
            print(f"{packed.pool.n_proposals:,} proposals: {packed.summary}")
            print(f"{peak_mb():.0f} MB peak after the first repeat", flush=True)
        rows = rows_of(packed)
        ours = sum(seconds.values())
        bare, held = (sum(insert_bare(some, constrained=held) for some in rows) for held in (False, True))
        seconds |= {"all of it": ours, BARE: bare, HELD: held}
        seconds |= {f"our rows a second, to those of {BARE}": bare / ours, f"to those of {HELD}": held / ours}
        for name, value in seconds.items():
            figures[name].append(value)
    print(f"{sum(some.count() for some in rows):,} rows; medians of {repeats} and all, seconds and ratios:")
    for name, values in figures.items():
        print(f"{median(values):8.2f}  {name}  ({', '.join(f'{value:.2f}' for value in values)})")


def make_collection(queries: int):
    """Create 5,000 images with five captions each, and a sample of ``queries`` queries, one sixth of them images."""
    from core.database.inserts import insert_rows
    from corpus.models import Caption, Collection, Image, Match
    from corpus.samples import sample_queries

    collection = Collection.objects.create(name="coco")
    keys = np.arange(IMAGES * CAPTIONS_EACH).astype(str)
    insert_rows(Image, {"collection_id": collection.pk, "key": keys[:IMAGES], "file_name": keys[:IMAGES]} | BLANK)
    images = np.repeat(ids_of(collection.images), CAPTIONS_EACH)
    insert_rows(Caption, {"collection_id": collection.pk, "key": keys, "image_id": images, "text": keys})
    pairs = {"image_id": images, "caption_id": ids_of(collection.captions)}
    insert_rows(Match, {"collection_id": collection.pk, "source": Match.ORIGINAL, **pairs})
    asked = {"images": queries // SIDES, "captions": queries - queries // SIDES}
    sample_queries("queries", collection=collection, **asked, seed=0)
    return collection


def ids_of(rows) -> np.ndarray:
    return np.array(rows.order_by("pk").values_list("pk", flat=True))


def pool_and_pack(name: str):
    """Pool and pack with the functions that the commands call; return the round and the seconds of every step."""
    from corpus.models import Collection
    from hits.rounds.packed_rounds import pack_round
    from hits.rounds.round_parameters import PackParameters
    from mitl.models import Annotator
    from mitl.pooling import pool_proposals

    collection = Collection.objects.get()
    clock = StepClock()
    clock("pool: opening the collection", 0, None)
    pool = pool_proposals(
        name,
        collection=collection,
        annotators=list(Annotator.objects.all()),
        sample=collection.samples.get(),
        progress=clock,
    )
    clock("pack: beginning", 0, None)
    packed = pack_round(name, pool, PackParameters(ceiling=Decimal(1_000_000)), progress=clock)
    clock("", 0, None)
    return packed, clock.seconds


def rows_of(packed) -> list:
    """Return the rows that pooling and packing wrote, one query per table."""
    from hits.models import Item, Seat

    in_it = {"hit__round": packed}
    items, seats = Item.objects.filter(**in_it), Seat.objects.filter(**in_it)
    return [packed.pool.proposals.all(), packed.controls.all(), packed.hits.all(), items, seats]


class StepClock:
    """A Progress that adds up the seconds of every step, from its first call to the first call of the next step."""

    def __init__(self, timer: Callable[[], float] = perf_counter) -> None:
        self.seconds: dict[str, float] = {}
        self._timer = timer
        self._step, self._since = "", timer()

    def __call__(self, step: str, done: int, total: int | None) -> None:
        now = self._timer()
        if self._step:
            self.seconds[self._step] = self.seconds.get(self._step, 0) + now - self._since
        self._step, self._since = step, now


if __name__ == "__main__":
    main()
