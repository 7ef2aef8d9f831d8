"""Staff pages over 50,000 HITs and a million judgments: python -m benchmarks.large_pages [--hits N] [--repeats N]

Stores a judged round of 18 pairs a HIT with the proposals, verdicts, review cases and released matches that belong to
it, a job, a scored run and a picture, and prints of each staff page the milliseconds of its first visit and of others
(median and 95th percentile), in process and without a network. The first visit finds no kept figures. Then the pages of
the same round on MTurk's emulator, with a posting and a call for each HIT. Set DATABASE_URL to measure PostgreSQL.
"""

import argparse
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from itertools import chain
from time import perf_counter
from urllib.parse import urlsplit

import numpy as np

from benchmarks.fixtures import Stopwatch, fresh_database, photo
from benchmarks.pool import CAPTIONS_EACH, IMAGES, ids_of, make_collection

HITS, CANDIDATES, ITEMS, WORKERS, REPEATS = 50_000, 16, 18, 1_000, 20
IMAGE, JOB = 2_000, "00000000-0000-0000-0000-000000000001"  # whose pages are visited
FURTHER = 9  # one HIT in so many is judged a second time
NAMES = {"collections": "coco", "annotators": "annotator-1", "pools": "pool", "rounds": "round", "versions": "v1"}
UNLIKE_PAGES = {"login", "logout", "pairs_csv", "payments_csv", "ledger_csv"}  # files, no page of its own
WORDS = ("zebra", "dog", "man", "street", "kitchen", "beach", "train", "table", "herd", "red")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hits", type=int, default=HITS, help=f"number of HITs (default {HITS:,})")
    parser.add_argument("--repeats", type=int, default=REPEATS, help=f"visits of each page (default {REPEATS})")
    options = parser.parse_args()
    with fresh_database():
        build(options.hits)
        measure(options.repeats, chain(addresses(), other_addresses()))
        post(options.hits)
        measure(options.repeats, platform_addresses())


def build(hits: int) -> None:
    """Store a round of ``hits`` judged HITs over one collection, and what annotators and versions say of its pairs."""
    clock = Stopwatch()
    with clock.step("collection"):
        collection = make_collection(queries=6)
        write_captions(collection)
    with clock.step("HITs, items, controls, seats"):
        made, is_control, pair = write_round(collection, hits)
    with clock.step("proposals"):
        write_proposals(made.pool, *(side[~is_control] for side in pair))
    with clock.step("judgments"):
        levels = write_judgments(made)
    with clock.step("verdicts, cases, matches of a version"):
        write_conclusions(made, [side[~is_control] for side in pair], levels[~is_control])
    with clock.step("a job, a run, a picture"):
        write_others(collection)
    with clock.step("statistics of the tables"):
        analyse()


def write_captions(collection) -> None:
    from corpus.models import Caption

    captions = list(collection.captions.all())
    for number, caption in enumerate(captions):
        caption.text = f"a {WORDS[number % 10]} beside a {WORDS[number // 10 % 10]}, number {number}"
    Caption.objects.bulk_update(captions, ["text"], batch_size=2_000)


def write_round(collection, hits: int):
    """Return the round, and of its items in order whether they are controls, and their images and captions."""
    from core.inserts import insert_rows
    from hits.models import HIT, Control, Item, Round, Seat
    from mitl.models import Pool

    pool = Pool.objects.create(
        name="pool", collection=collection, sample=collection.samples.get(), top_k=5, control_depth=25,
        directions=["i2t", "t2i"], seed=0, n_pairs=hits * CANDIDATES,
    )  # fmt: skip
    now = datetime.now(UTC)
    made = Round.objects.create(
        name="round", pool=pool, reward=Decimal("0.65"), ceiling=Decimal(1_000_000), seed=0, plan_hash="", join_key="k",
        design={"name": "eccv-18", "candidates": CANDIDATES, "positives": 1, "negatives": 1}, channel="browser",
        published_at=now,
    )  # fmt: skip
    insert_rows(HIT, {"round_id": made.pk, "number": np.arange(1, hits + 1)})
    hit = ids_of(made.hits)
    insert_rows(Seat, {"round_id": made.pk, "hit_id": hit, "number": 1, "state": "filled"})
    insert_rows(Seat, {"round_id": made.pk, "hit_id": hit[::FURTHER], "number": 2, "state": "filled"})
    number = np.arange(hits * ITEMS)
    of_image = -(-len(number) // IMAGES)
    images, captions = ids_of(collection.images), ids_of(collection.captions)
    image = images[number // of_image]
    caption = captions[(number // of_image * CAPTIONS_EACH + number % of_image) % len(captions)]
    is_control = number % ITEMS >= CANDIDATES
    polarity = np.where(number[is_control] % ITEMS == CANDIDATES, "positive", "negative")
    gold = {"image_id": image[is_control], "caption_id": caption[is_control]}
    insert_rows(Control, {"round_id": made.pk, **gold, "polarity": polarity, "state": "active"})
    control = np.ma.masked_all(len(number), dtype=np.int64)
    control[is_control] = ids_of(made.controls)
    place = {"hit_id": np.repeat(hit, ITEMS), "place": number % ITEMS + 1}
    insert_rows(Item, {**place, "image_id": image, "caption_id": caption, "control_id": control})
    return made, is_control, (image, caption)


def write_proposals(pool, image: np.ndarray, caption: np.ndarray) -> None:
    """Let one of five annotators propose each pair, and every third pair by two of them."""
    from core.inserts import insert_rows
    from mitl.models import Annotator, Proposal

    names = Annotator.objects.bulk_create(Annotator(name=f"annotator-{n}", kind="files") for n in range(5))
    ids = np.array([one.pk for one in names])
    number = np.arange(len(image))
    for first, step in ((0, 1), (2, 3)):
        some = number[::step]
        insert_rows(
            Proposal,
            {
                "pool_id": pool.pk, "annotator_id": ids[(some + first) % 5], "image_id": image[some],
                "caption_id": caption[some], "direction": "i2t", "rank": some // 5 % 5 + 1, "score": 0.5,
            },
        )  # fmt: skip
    pool.n_proposals = pool.proposals.count()
    pool.save()


def write_judgments(made) -> np.ndarray:
    """Judge each HIT once and every ninth twice; return the level that the first worker gave each item."""
    from annotation.models import Assignment, Judgment, Worker
    from core.inserts import insert_rows
    from hits.models import Item, Seat

    workers = Worker.objects.bulk_create(Worker() for _ in range(WORKERS))
    now = datetime.now(UTC)
    rng = np.random.default_rng(0)
    seats = Seat.objects.order_by("number", "hit_id").values_list("pk", "hit_id", "number")
    Assignment.objects.bulk_create(
        (
            Assignment(
                seat_id=seat, hit_id=hit, worker=workers[(hit + number) % WORKERS], state="accepted", deadline=now,
                submitted_at=now, active_seconds=300, control_failures=0,
            )
            for seat, hit, number in seats
        ),
        batch_size=5_000,
    )  # fmt: skip
    columns = ("pk", "hit_id", "image_id", "caption_id")
    item, hit, image, caption = np.array(list(Item.objects.order_by("pk").values_list(*columns))).T
    levels = rng.choice([1, 2, 3, 4], len(item), p=[0.1, 0.1, 0.2, 0.6])
    for seat in (1, 2):
        sets = np.array(
            list(Assignment.objects.filter(seat__number=seat).order_by("hit").values_list("hit", "pk", "worker"))
        )
        of_item = np.searchsorted(sets[:, 0], hit)
        chosen = np.flatnonzero(sets[np.minimum(of_item, len(sets) - 1), 0] == hit)
        given = levels[chosen] if seat == 1 else rng.integers(1, 5, len(chosen))
        insert_rows(
            Judgment,
            {
                "assignment_id": sets[of_item[chosen], 1], "worker_id": sets[of_item[chosen], 2],
                "item_id": item[chosen], "image_id": image[chosen], "caption_id": caption[chosen], "level": given,
                "shortcoming": "", "wrong_way": "", "at": now.isoformat(),
            },
        )  # fmt: skip
    return levels


def write_conclusions(made, pair: list[np.ndarray], levels: np.ndarray) -> None:
    """Store a verdict for each pair, a waiting case for some, and the matches of a version."""
    from core.inserts import insert_rows
    from corpus.models import Match
    from dataset.models import Case, Version
    from dataset.verdicts import aggregate_round

    collection, (image, caption) = made.pool.collection, pair
    aggregate_round(made)
    version = Version.objects.create(
        name="v1", collection=collection, sample=made.pool.sample, folder="", manifest={"counts": {}, "sources": []}
    )
    version.rounds.add(made)
    some = {"collection_id": collection.pk, "image_id": image, "caption_id": caption}
    insert_rows(Match, {**some, "source": "v1", "grade": levels, "score": (levels <= 2).astype(float)})
    few = {name: ids[::800] if name != "collection_id" else ids for name, ids in some.items()}
    now = datetime.now(UTC).isoformat()
    reasons = '{"disagreement": "votes 1, 4"}'
    insert_rows(Case, {**few, "reasons": reasons, "priority": 20, "opened_at": now})


def write_others(collection) -> None:
    """Store a finished job, a run with its scores on the version, and the picture of the visited image."""
    from core.models import Job
    from corpus.pictures import store_picture
    from dataset.models import Version
    from evaluation.models import Run, Score

    now = datetime.now(UTC)
    Job.objects.create(pk=JOB, title="Pool pool", task="none", state="done", message="Done.", finished_at=now)
    run = Run.objects.create(pk=1, collection=collection, model="annotator-1", sha256="")
    Score.objects.bulk_create(
        Score(
            run=run, version=Version.objects.get(), metric=metric, direction=direction, value=0.5, low=0.4, high=0.6,
            queries=1_000,
        )
        for metric in ("R@1", "R@5", "R@10", "mAP@R", "R-Precision")
        for direction in ("i2t", "t2i")
    )  # fmt: skip
    image = collection.images.all()[IMAGE]
    picture = store_picture(collection.name, image.key, "1.jpg", photo(np.random.default_rng(0)))
    image.file, image.sha256 = picture.file, picture.sha256
    image.save()


def post(hits: int) -> None:
    """Have the round be on MTurk's emulator: a posting of each HIT that is over, and the call that made it."""
    from django.db.models import CharField
    from django.db.models.functions import Cast

    from annotation.models import Assignment
    from core.inserts import insert_rows
    from crowd.models import Audit, Outbox, Posting, Visit
    from hits.models import Round

    where = {"channel": "mturk", "environment": "emulator"}
    now = datetime.now(UTC)
    Round.objects.update(settles=True, **where)
    made = Round.objects.get()
    names = np.array([f"P{number}" for number in range(hits)])
    over = {"state": "closed", "seen_at": now.isoformat(), "settled_at": now.isoformat()}
    insert_rows(
        Posting,
        {
            "round_id": made.pk, "hit_id": ids_of(made.hits), "external_id": names, "terms_id": "T", "excludes": "",
            "max_assignments": 2, "posted_assignments": 2, "status": "", "pending": 0, "created_at": now.isoformat(),
            **where, **over,
        },
    )  # fmt: skip
    Outbox.objects.bulk_create(
        (
            Outbox(round=made, call="publish", subject=f"crowd.posting:{pk}", state="done", **where)
            for pk in ids_of(made.postings)
        ),
        batch_size=5_000,
    )
    Assignment.objects.update(outside_key=Cast("pk", CharField()))
    posting_of = dict(made.postings.values_list("hit", "pk"))
    rows = Assignment.objects.values_list("pk", "hit", "worker", "outside_key").iterator()
    Visit.objects.bulk_create(
        (
            Visit(
                assignment_id=pk,
                posting_id=posting_of[hit],
                worker_id=worker,
                external_id=key,
                state="submitted",
                **where,
            )
            for pk, hit, worker, key in rows
        ),
        batch_size=5_000,
    )
    Audit.objects.create(round=made, by="benchmark")
    analyse()


def analyse() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def addresses() -> list[tuple[str, str]]:
    """Return each page's name and address."""
    from corpus.models import Collection

    collection = Collection.objects.get()
    image = collection.images.all()[IMAGE]
    caption = collection.captions.all()[10_000]
    return [
        ("home", "/"),
        ("collection", "/collections/coco/"),
        ("collection, words searched", "/collections/coco/?q=zebra+beside"),
        ("pool", "/pools/pool/"),
        ("pairs of the pool", "/pools/pool/pairs/"),
        ("… the 200th page", "/pools/pool/pairs/?page=200"),
        ("… of an annotator at rank 1", "/pools/pool/pairs/?annotator=annotator-1&rank=1"),
        ("… with words", "/pools/pool/pairs/?text=zebra+beside+a+herd"),
        ("… not judged", "/pools/pool/pairs/?verdict=none"),
        ("pairs of the round", "/rounds/round/pairs/"),
        ("… the 200th page", "/rounds/round/pairs/?page=200"),
        ("… of an annotator at rank 1", "/rounds/round/pairs/?annotator=annotator-1&rank=1"),
        ("… with words", "/rounds/round/pairs/?text=zebra+beside+a+herd"),
        ("… with words that none has", "/rounds/round/pairs/?text=giraffe"),
        ("… with a vote of level 1", "/rounds/round/pairs/?level=1"),
        ("… of verdict yes", "/rounds/round/pairs/?verdict=yes"),
        ("… on which workers disagree", "/rounds/round/pairs/?disagreement=yes"),
        ("… flagged", "/rounds/round/pairs/?flagged=review"),
        ("… flagged, words, annotator", "/rounds/round/pairs/?flagged=review&text=zebra&annotator=annotator-1"),
        ("… least sure first", "/rounds/round/pairs/?sort=unsure"),
        ("… controls", "/rounds/round/pairs/?control=yes"),
        ("… of a picture", f"/rounds/round/pairs/?image={image.key}"),
        ("… of a caption", f"/rounds/round/pairs/?caption={caption.key}"),
        ("… with three votes", "/rounds/round/pairs/?votes=3"),
        ("… with a review", "/rounds/round/pairs/?flagged=reviewed"),
        ("… of two annotators", "/rounds/round/pairs/?annotator=annotator-1&beside=annotator-2"),
        ("… where they differ", "/rounds/round/pairs/?annotator=annotator-1&beside=annotator-2&differ=on"),
        ("pairs of the version", "/versions/v1/pairs/"),
        ("… matches with words", "/versions/v1/pairs/?verdict=yes&text=zebra"),
        ("a pair", f"/pairs/{image.pk}/{caption.pk}/"),
        ("an image and its captions", f"/images/{image.pk}/"),
        ("a caption and its images", f"/captions/{caption.pk}/"),
        ("rounds", "/rounds/"),
        ("round", "/rounds/round/"),
        ("HITs", "/rounds/round/hits/"),
        ("HITs, page 1,000", "/rounds/round/hits/?page=1000"),
        ("one HIT", "/rounds/round/hits/1/"),
        ("answered HITs", "/review/?state=all"),
        ("pairs to review", "/collections/coco/queue/"),
        ("workers", "/workers/"),
        ("ledger", "/rounds/round/ledger/"),
        ("… each payment", "/rounds/round/ledger/?show=payments"),
        ("events", "/events/"),
        ("a picture", f"/pictures/{image.pk}/?size=320"),
    ]


def platform_addresses() -> list[tuple[str, str]]:
    """Return the name and address of each page that differs where a round is on a platform."""
    return [
        ("on a platform: home", "/"),
        ("… round", "/rounds/round/"),
        ("… round live", "/rounds/round/live/"),
        ("… HITs", "/rounds/round/hits/"),
        ("… answered HITs", "/review/?state=all"),
        ("… ledger", "/rounds/round/ledger/"),
        ("… audit", "/rounds/round/audit/"),
        ("… calls", "/calls/"),
        ("… events", "/events/"),
    ]


def other_addresses() -> Iterator[tuple[str, str]]:
    """Yield each page of the URL conf that is not among ``addresses``, by its name, for the rows that were built.

    What only changes something, needs a row that was not built, or sends a file is left out by ``measure``."""
    from django.urls import NoReverseMatch, resolve, reverse
    from django.urls.resolvers import URLPattern

    from console.urls import urlpatterns

    seen = {resolve(urlsplit(page).path).view_name for _, page in addresses()}
    values = _values()
    for pattern in urlpatterns:
        assert isinstance(pattern, URLPattern)
        route = str(pattern.pattern)
        if pattern.name in seen | UNLIKE_PAGES:
            continue
        named = {"name": NAMES.get(route.split("/")[0], ""), **values}
        if route.startswith("<slug:kind>s/") or route.startswith("charts/"):
            named["name"] = NAMES["rounds"]
        wanted = pattern.pattern.converters
        if not wanted.keys() <= named.keys():  # a row that was not built
            continue
        with suppress(NoReverseMatch):
            yield str(pattern.name), reverse(str(pattern.name), kwargs={part: named[part] for part in wanted})


def _values() -> dict[str, object]:
    """Return what stands for each part of an address."""
    from django.contrib.auth.models import User

    from annotation.models import Assignment, Worker
    from corpus.models import Caption, Image
    from hits.models import Control

    return {
        "image_id": Image.objects.all()[IMAGE].pk,
        "caption_id": Caption.objects.all()[10_000].pk,
        "assignment_id": Assignment.objects.first().pk,
        "pseudonym": Worker.objects.first().pseudonym,
        "control_id": Control.objects.first().pk,
        "user_id": User.objects.first().pk,
        "kind": "round",
        "subject": "workers",
        "number": 1,
        "place": 1,
        **dict.fromkeys(("run_id", "review_id", "rejection_id", "appeal_id", "invitation_id"), 1),
        "job_id": JOB,
        "call_id": "00000000-0000-0000-0000-000000000000",
        **dict.fromkeys(("what", "form", "file_name", "uidb64", "token"), "none"),
    }


def measure(repeats: int, pages: Iterable[tuple[str, str]]) -> None:
    """Print a line of figures for each of ``pages``: names and addresses."""
    from django.contrib.auth.models import Group, User
    from django.core.cache import cache
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    staff, _ = User.objects.get_or_create(username="benchmark", is_superuser=True)
    staff.groups.set(Group.objects.all())
    client = Client(SERVER_NAME="localhost", raise_request_exception=False)  # the version has no files
    client.force_login(staff)
    print("| page | first ms | p50 ms | p95 ms | queries |\n|---|---|---|---|---|", flush=True)
    left_out = []
    for name, page in pages:
        cache.clear()
        with CaptureQueriesContext(connection) as queries:
            begun = perf_counter()
            answer = client.get(page)
            first = 1000 * (perf_counter() - begun)
            count = len(queries)
        is_file = answer.streaming and answer["Content-Type"] != "image/jpeg"
        if answer.status_code not in (200, 302) or is_file:
            left_out.append(f"{name} ({answer.status_code})")
            continue
        times = []
        for _ in range(repeats):
            begun = perf_counter()
            client.get(page)
            times.append(1000 * (perf_counter() - begun))
        figures = f"{first:.0f} | {np.median(times):.0f} | {np.percentile(times, 95):.0f} | {count}"
        print(f"| {name} | {figures} |", flush=True)
    print(f"Left out: {', '.join(left_out) or 'none'}.")


if __name__ == "__main__":
    main()
