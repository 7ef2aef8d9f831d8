"""Shared by the benchmarks: a fresh database, commands, a stopwatch, a collection, random top lists and photographs."""

import ctypes
import gc
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from io import BytesIO, StringIO
from multiprocessing import get_context
from pathlib import Path
from threading import Event, Thread
from time import perf_counter
from typing import Any

import numpy as np

ANNOTATORS, DEPTH, LIKELY = 5, 25, 30
IMAGES, CAPTIONS_EACH = 5_000, 5
SIDES = CAPTIONS_EACH + 1  # queries per image: the image and its captions
BLANK: dict[str, Any] = {"file": "", "sha256": "", "split": "", "look": ""}


@contextmanager
def fresh_database() -> Iterator[None]:
    """Set up Django with an empty database: SQLite in a temporary folder, or a new one at DATABASE_URL."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["VAR_DIR"] = folder
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        import django

        django.setup()
        from django.core.management import call_command
        from django.db import connection
        from django.test.utils import setup_databases, teardown_databases

        if connection.vendor == "sqlite":
            call_command("migrate", verbosity=0)
            yield
            return
        made = setup_databases(verbosity=0, interactive=False)
        try:
            yield
        finally:
            teardown_databases(made, verbosity=0)


def in_own_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what ``function`` returns in a new process with an empty database, as a process sets up Django once."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_with_database, function, arguments).result()


def _with_database(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    with fresh_database():
        return function(*arguments)


def printed_by(command: str, *arguments: object) -> str:
    """Run a command of the site, without a bar, and return what it prints."""
    from django.core.management import call_command

    out = StringIO()
    call_command(command, *map(str, arguments), verbosity=0, stdout=out, stderr=StringIO())
    return out.getvalue()


def figures_of(command: str, *arguments: object) -> Any:
    """Return the figures that a command prints with ``--json``."""
    return json.loads(printed_by(command, *arguments, "--json"))


class Stopwatch:
    """Measures named steps and prints their seconds as they end; a repeated step adds up."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        begun = perf_counter()
        yield
        took = perf_counter() - begun
        self.seconds[name] = self.seconds.get(name, 0) + took
        print(f"{took:8.2f} s  {name}", flush=True)


def measured(act: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return the result, the seconds, and the MB by which the process's memory rose at most."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what was freed before must not hide what is taken now
    done = Event()
    peak = [0]
    start = _resident()

    def watch() -> None:
        while not done.wait(0.005):
            peak[0] = max(peak[0], _resident())

    watcher = Thread(target=watch)
    watcher.start()
    began = perf_counter()
    result = act()
    seconds = perf_counter() - began
    done.set()
    watcher.join()
    return result, seconds, max(0, peak[0] - start) / 2**20


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak_mb() -> float:
    """Return the peak of this process's memory since it began its program; getrusage would count its parent's."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines["VmHWM"].split()[0]) / 1_000


def make_collection(queries: int) -> Any:
    """Create 5,000 images with five captions each, and a sample of ``queries`` queries, one sixth of them images."""
    from core.database.inserts import insert_rows
    from corpus.models import Caption, Collection, Image, Match
    from corpus.samples import sample_queries

    collection = Collection.objects.create(name="coco")
    keys = np.arange(IMAGES * CAPTIONS_EACH).astype(str)
    insert_rows(Image, BLANK | {"collection_id": collection.pk, "key": keys[:IMAGES], "file_name": keys[:IMAGES]})
    images = np.repeat(ids_of(collection.images), CAPTIONS_EACH)
    insert_rows(Caption, {"collection_id": collection.pk, "key": keys, "image_id": images, "text": keys})
    matches: dict[str, Any] = {"image_id": images, "caption_id": ids_of(collection.captions)}
    insert_rows(Match, matches | {"collection_id": collection.pk, "source": Match.ORIGINAL})
    images_asked = queries // SIDES
    sample_queries("queries", collection=collection, images=images_asked, captions=queries - images_asked, seed=0)
    return collection


def ids_of(rows: Any) -> np.ndarray:
    return np.array(rows.order_by("pk").values_list("pk", flat=True))


def draw_lists(collection: Any) -> None:
    """Store random retrievals of five annotators for the collection's sample, so that pooling needs no search.

    Each annotator chooses from the 30 likeliest items of a query, which gives the paper's share of pairs that several
    annotators propose.
    """
    from mitl.models import Annotator, Direction, Retrieval
    from mitl.search.gallery import RankedLists, open_gallery, store_lists
    from mitl.search.request import fingerprint

    rng = np.random.default_rng(0)
    sample = collection.samples.get()
    gallery = open_gallery(collection, sample)
    sides = {
        Direction.IMAGE_TO_CAPTION: (gallery.image_ids[gallery.image_queries], gallery.caption_ids),
        Direction.CAPTION_TO_IMAGE: (gallery.caption_ids[gallery.caption_queries], gallery.image_ids),
    }
    likely = {
        side: np.stack([rng.choice(items, LIKELY, replace=False) for _ in queries])
        for side, (queries, items) in sides.items()
    }
    for number in range(ANNOTATORS):
        lists = {
            side: RankedLists(
                queries,
                rng.permuted(likely[side], axis=1)[:, :DEPTH],
                -np.sort(-rng.random((len(queries), DEPTH)).astype(np.float32), axis=1),
            )
            for side, (queries, _) in sides.items()
        }
        stored = store_lists(f"retrievals/annotator-{number}", lists)
        annotator = Annotator.objects.create(name=f"annotator-{number}", kind="files")
        Retrieval.objects.create(
            annotator=annotator, fingerprint=fingerprint(annotator, gallery),
            collection=collection, sample=sample, depth=DEPTH, engine="blocked",
            file=stored.path, sha256=stored.sha256, seconds=0,
        )  # fmt: skip


def photo(rng: np.random.Generator) -> bytes:
    """A JPEG of COCO's usual size: coarse noise takes about as many bytes as a photograph does."""
    from PIL import Image as Pillow

    coarse = Pillow.fromarray(rng.integers(0, 256, (120, 160, 3), dtype=np.uint8))
    buffer = BytesIO()
    coarse.resize((640, 480), Pillow.Resampling.BICUBIC).save(buffer, "JPEG", quality=90)
    return buffer.getvalue()
