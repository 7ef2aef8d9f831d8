"""HITs a second through the real pages: DATABASE_URL=postgres://… python -m benchmarks.judging [--seconds 6]

Serves the site with gunicorn as everywhere (3 processes) and lets 1, 10 and 50 workers take, open, answer and submit
HITs of 18 pairs over kept connections, without thinking time, on the same cores: with one save a HIT, with a save an
answer, with answers saved together as by the page, with all pictures (whose smaller copies were made before), and
after 2,902 stored HITs; and with the same requests a bare Django site (``benchmarks.judging_bare``) that reads and
writes the same rows. Prints HITs a second, milliseconds of a request, processor milliseconds of the web server for each
HIT, failed requests, and answer sets above the ordered number; first the queries of each page.
"""

import argparse
import multiprocessing
import os
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import quote

import numpy as np

from benchmarks.fixtures import draw_lists, fresh_database, photo
from benchmarks.judging_crowd import ACTION, SIZE, Work, join, levels_of, picture_size, work

ROOT = Path(__file__).resolve().parent.parent
SITES = {"site": "config.wsgi", "bare": "benchmarks.judging_bare:application"}
IMAGES, QUERIES, STORED, CROWD, PHOTOS = 3_000, 2_700, 2_902, 50, 100
COMPARED = ("one save a HIT", "saved together")  # with the bare site
KINDS = {"one save a HIT": (0, 0), "a save an answer": (1, 0), "saved together": (8, 0), "with pictures": (0, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=6, help="of each measurement (default 6)")
    parser.add_argument("--only", choices=[*KINDS, "stored"], help="one kind, with 50 workers, of the site alone")
    given = parser.parse_args()
    with fresh_database():
        name = make_round()
        count_queries(name)
        print(f"\n{'':28}{'workers':>8}{'HITs/s':>8}{'p50 ms':>8}{'p95 ms':>8}{'ms/HIT':>8}{'failed':>8}", flush=True)
        if given.only:
            store_answers(STORED if given.only == "stored" else 0)
            with served("site") as site:
                measure(site, name, CROWD, given.seconds, given.only, KINDS.get(given.only, (0, 0)))
        else:
            measure_all(name, given.seconds)
        print(f"\n{surplus()} answer sets above the ordered number")


def measure_all(name: str, seconds: float) -> None:
    for many, kind in ((1, "one save a HIT"), (10, "one save a HIT"), *((CROWD, kind) for kind in COMPARED)):
        both = {}
        for which in SITES:
            with served(which) as site:
                both[which] = measure(site, name, many, seconds, f"{which}: {kind}", KINDS[kind])
        print(f"{'':28}{many:8} {both['site'] / both['bare']} of the bare site", flush=True)
    with served("site") as site:
        kinds = {kind: measure(site, name, CROWD, seconds, kind, how) for kind, how in KINDS.items()}
        print(f"{'':36} {kinds['saved together'] / kinds['a save an answer']} of a save an answer", flush=True)
        store_answers(STORED)
        measure(site, name, CROWD, seconds, f"site: after {STORED:,} more HITs")


def measure(site: "Site", name: str, many: int, seconds: float, what: str, kind: tuple = (0, 0)) -> np.ndarray:
    """Let ``many`` new workers work, and print a line. Returns HITs a second, and the 95th percentile of the time."""
    tidy()
    doors = join(site.address, f"/judge/join/{name}/", many)
    used = site.processor()
    with multiprocessing.get_context("spawn").Pool(1) as crowd:
        done: Work = crowd.apply(work, (site.address, doors, seconds, *kind))
    p50, p95 = 1000 * np.percentile(done.times, [50, 95])
    rate = done.hits / done.seconds
    cost = 1000 * (site.processor() - used) / max(1, done.hits)
    print(f"{what:28}{many:8}{rate:8.1f}{p50:8.0f}{p95:8.0f}{cost:8.1f}{done.failed:8}", flush=True)
    return np.round([rate, p95], 2)


def tidy() -> None:
    """Do what autovacuum does within a minute, which a server for tests may have switched off."""
    from django.db import connection

    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")


class Site:
    """A running web server at HOST:PORT."""

    def __init__(self, address: str, pid: int) -> None:
        self.address, self.pid = address, pid

    def processor(self) -> float:
        """Return the seconds of processor time that its processes have used."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        stats = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in children]
        return sum(int(stat[11]) + int(stat[12]) for stat in stats) / os.sysconf("SC_CLK_TCK")


@contextmanager
def served(which: str) -> Iterator[Site]:
    """Serve a site at a free port of this machine."""
    from django.db import connection

    given = connection.settings_dict
    database = {} if connection.vendor == "sqlite" else {"DATABASE_URL": _url_of(given)}
    address = free_address()
    environment = os.environ | database | {"WEB_CONCURRENCY": "3", "LOG_LEVEL": "WARNING", "LEAST_SECONDS_A_PAIR": "0"}
    command = [sys.executable, "-m", "gunicorn", "--config", "config/gunicorn.py", "--log-level", "warning"]
    server = subprocess.Popen([*command, "--bind", address, SITES[which]], cwd=ROOT, env=environment)
    try:
        until = monotonic() + 120
        while not _answers(address) and monotonic() < until:
            sleep(0.2)
        yield Site(address, server.pid)
    finally:
        server.terminate()
        server.wait()


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def _url_of(given: dict) -> str:
    host = quote(given["HOST"], safe="")  # or the folder of its socket
    return f"postgres://{given['USER']}:{given['PASSWORD']}@{host}:{given['PORT'] or 5432}/{given['NAME']}"


def _answers(address: str) -> bool:
    with closing(HTTPConnection(address, timeout=5)) as visitor:
        try:
            visitor.request("GET", "/judge/join/none/", headers={"Host": "127.0.0.1"})
            return bool(visitor.getresponse().status)
        except OSError:
            return False


def make_round() -> str:
    """Publish a round of some 6,000 HITs, enough for all measurements. Their pictures are photographs, as far as their
    size goes."""
    from django.core.management import call_command

    from corpus.models import Caption, Collection, Image, Match
    from corpus.pictures.stored_pictures import store_picture
    from corpus.pictures.thumbnails import thumbnail
    from hits.models import Round
    from mitl.models import Annotator

    collection = Collection.objects.create(name="photos")
    rng = np.random.default_rng(0)
    photos = [store_picture("photos", str(n), f"{n}.jpg", photo(rng)) for n in range(PHOTOS)]
    images = Image.objects.bulk_create(
        Image(
            collection=collection, key=str(n), file_name=f"{n}.jpg", file=photo.file, sha256=photo.sha256,
            width=size[0], height=size[1],
        )
        for n in range(IMAGES)
        for photo, size in [(photos[n % PHOTOS], picture_size(n))]
    )  # fmt: skip
    for image in images[:PHOTOS]:
        thumbnail(image, SIZE)
    captions = Caption.objects.bulk_create(
        Caption(
            collection=collection, image=image, key=f"{image.key}-{n}", text=f"Thing {image.key} seen from side {n}"
        )
        for image in images
        for n in range(5)
    )
    Match.objects.bulk_create(
        Match(collection=collection, image=one.image, caption=one, source=Match.ORIGINAL) for one in captions
    )
    call_command("sample_queries", "queries", collection="photos", images=QUERIES, captions=QUERIES)
    draw_lists(collection)
    annotators = ",".join(Annotator.objects.values_list("name", flat=True))
    call_command("pool", "pool", collection="photos", annotators=annotators, queries="queries")
    call_command("pack", "round", pool="pool", ceiling="90000")
    call_command("publish", "round", channel="browser")
    return Round.objects.get().join_key


def store_answers(many: int) -> None:
    """Store accepted and paid answer sets for the last HITs of the round that have none."""
    from django.utils import timezone

    from annotation.models import Assignment, Decision, Judgment, Payment, Worker
    from hits.models import Item, Round, Seat

    made = Round.objects.get()
    now = timezone.now()
    workers = Worker.objects.bulk_create(Worker() for _ in range(CROWD))
    seats = list(Seat.objects.filter(state="open").order_by("-pk")[:many])
    sets = Assignment.objects.bulk_create(
        Assignment(
            seat=seat, hit_id=seat.hit_id, worker=workers[n % CROWD], state="accepted", deadline=now, submitted_at=now,
            control_failures=0, receipt=str(n),
        )
        for n, seat in enumerate(seats)
    )  # fmt: skip
    Seat.objects.filter(pk__in=[seat.pk for seat in seats]).update(state="filled")
    Decision.objects.bulk_create(Decision(assignment=one, votes_count=True, paid=True, reason="-") for one in sets)
    Payment.objects.bulk_create(Payment(assignment=one, round=made, amount=made.reward) for one in sets)
    by_hit = {one.hit_id: one for one in sets}
    Judgment.objects.bulk_create(
        (
            Judgment(
                assignment=by_hit[item.hit_id], item=item, worker_id=by_hit[item.hit_id].worker_id,
                image_id=item.image_id, caption_id=item.caption_id, level=4,
            )
            for item in Item.objects.filter(hit__in=by_hit)
        ),
        batch_size=5_000, ignore_conflicts=True,
    )  # fmt: skip


def surplus() -> int:
    """Count the answer sets beyond what was ordered."""
    from annotation.models import Assignment
    from hits.models import Seat

    ordered = Counter(Seat.objects.values_list("hit", flat=True))
    held = Counter(Assignment.objects.filter(state__in=Assignment.HOLDING).values_list("hit", flat=True))
    return (held - ordered).total()


def count_queries(name: str) -> None:
    """Print the number of queries of each request of a HIT, in process."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from annotation.judging.links import worker_token
    from annotation.people.consent import give_consent
    from annotation.people.workers import worker_for
    from hits.models import Round

    worker = worker_for(channel="browser", external_id="query counter")
    give_consent(worker)
    client = Client(SERVER_NAME="localhost")
    for _ in range(2):  # The first HIT of a process fills its caches.
        counts: list[int] = []

        def ask(path: str, fields: dict | None = None, counts: list[int] = counts) -> str:
            with CaptureQueriesContext(connection) as queries:
                answer = client.get(path) if fields is None else client.post(path, fields)
            counts.append(len(queries))
            return answer.headers.get("Location", "") or answer.content.decode()

        page = ask(f"/judge/me/{worker_token(worker, Round.objects.get())}/take/", {})
        path = ACTION.findall(page)[0]
        ask(path, {f"level-{place}": level for place, level in levels_of(page).items()} | {"active_seconds": "60"})
        ask(f"{path}receipt/")
    print(f"{sum(counts)} queries of a HIT: take, submit, receipt {counts}")


if __name__ == "__main__":
    main()
