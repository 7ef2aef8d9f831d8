"""The rows behind benchmarks.large_pages: a judged round of 50,000 HITs, and what annotators and versions say of it."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import numpy as np

from benchmarks.fixtures import Stopwatch, draw_lists, ids_of, make_collection, photo

HITS, WORKERS, IMAGE = 50_000, 1_000, 2_000  # the image has its pages visited
QUERIES_A_HIT, TOP_K = 0.6, 11  # queries of the pool for each HIT
EXPORT = "qrels_strict"
LEVELS = (0.1, 0.1, 0.2, 0.6)  # shares of the answers
FURTHER = 9  # one of this number of HITs is judged a second time
JOB, MEASURED = (f"00000000-0000-0000-0000-00000000000{number}" for number in (1, 2))
WORDS = ("zebra", "dog", "man", "street", "kitchen", "beach", "train", "table", "herd", "red")


def build(hits: int) -> None:
    """Store a round of about ``hits`` judged HITs, and what annotators and versions say of its pairs."""
    clock = Stopwatch()
    with clock.step("collection, five annotators' lists"):
        collection = make_collection(queries=round(hits * QUERIES_A_HIT))
        write_captions(collection)
        write_pictures(collection)
        draw_lists(collection)
    with clock.step("pool, HITs, controls, seats"):
        made = pool_and_pack(collection)
        order_again(made)
    with clock.step("judgments"):
        write_judgments(made)
    with clock.step("verdicts, a version, cases"):
        write_conclusions(made)
    with clock.step("jobs, a chart, an export, a run, a public page"):
        write_others(made)
    with clock.step("statistics of the tables"):
        analyse()


def write_captions(collection) -> None:
    from corpus.models import Caption

    captions = list(collection.captions.all())
    for number, caption in enumerate(captions):
        caption.text = f"a {WORDS[number % 10]} near a {WORDS[number // 10 % 10]}, number {number}"
    Caption.objects.bulk_update(captions, ["text"], batch_size=2_000)


def write_pictures(collection) -> None:
    """Give every image the same picture."""
    from corpus.pictures.stored_pictures import store_picture

    picture = store_picture(collection.name, "1", "1.jpg", photo(np.random.default_rng(0)))
    collection.images.update(file=picture.file, sha256=picture.sha256, width=640, height=480)


def pool_and_pack(collection, replication: int = 1):
    """Pool the lists of all annotators, and pack and publish a round whose HITs want this number of answer sets."""
    from hits.models import Round
    from hits.rounds.packed_rounds import pack_round
    from hits.rounds.round_parameters import PackParameters
    from mitl.models import Annotator
    from mitl.pooling import pool_proposals

    pool = pool_proposals(
        "pool",
        collection=collection,
        annotators=list(Annotator.objects.all()),
        sample=collection.samples.get(),
        top_k=TOP_K,
    )
    made = pack_round("round", pool, PackParameters(ceiling=Decimal(1_000_000), replication=replication))
    begun = datetime.now(UTC) - timedelta(days=21)
    Round.objects.filter(pk=made.pk).update(channel="browser", published_at=begun)
    return Round.objects.select_related("pool__collection", "pool__sample").get()


def order_again(made) -> None:
    """Want a second answer set for every ninth HIT."""
    from hits.models import Seat

    hits = made.hits.order_by("number").values_list("pk", flat=True)
    Seat.objects.bulk_create((Seat(round=made, hit_id=hit, number=2) for hit in hits[::FURTHER]), batch_size=5_000)


def write_judgments(made, agreeing: float = 0.0) -> None:
    """Fill each seat; each worker judges HITs that follow each other, each once. The share ``agreeing`` of
    the answers is the pair's own level."""
    from annotation.models import Assignment, Judgment, Worker
    from core.database.inserts import insert_rows
    from hits.models import Item, Seat

    workers = Worker.objects.bulk_create(Worker() for _ in range(WORKERS))
    rng = np.random.default_rng(0)
    Seat.objects.update(state=Seat.State.FILLED)
    seats = list(Seat.objects.order_by("number", "hit__number").values_list("pk", "hit_id", "hit__number", "number"))
    n_hits, most = made.hits.count(), max(number for *_, number in seats)
    some = WORKERS // most  # who judge first, who judge again, and so on
    seconds = rng.integers(120, 900, len(seats)).tolist()
    now = datetime.now(UTC)
    Assignment.objects.bulk_create(
        (
            Assignment(
                seat_id=seat, hit_id=hit, worker=workers[number * some // (n_hits + 1) + some * (of - 1)],
                state="accepted", leased_at=now - timedelta(days=20, seconds=2 * took - 30 * place),
                submitted_at=now - timedelta(days=20, seconds=-30 * place), deadline=now, active_seconds=took,
                control_failures=0,
            )
            for place, ((seat, hit, number, of), took) in enumerate(zip(seats, seconds, strict=True))
        ),
        batch_size=5_000,
    )  # fmt: skip
    items = Item.objects.order_by("pk").values_list("pk", "hit_id", "image_id", "caption_id", "control__polarity")
    *columns, polarity = zip(*items, strict=True)
    item, hit, image, caption = map(np.array, columns)
    polarity = np.array([one or "" for one in polarity])
    own = rng.choice([1, 2, 3, 4], len(item), p=LEVELS)
    for seat in range(1, most + 1):
        sets = np.array(
            list(Assignment.objects.filter(seat__number=seat).order_by("hit").values_list("hit", "pk", "worker"))
        )
        of_item = np.minimum(np.searchsorted(sets[:, 0], hit), len(sets) - 1)
        asked = np.flatnonzero(sets[of_item, 0] == hit)
        # A worker answers a pair once: controls come in several HITs, which a lease would keep from the worker.
        answers = np.column_stack([sets[of_item[asked], 2], image[asked], caption[asked]])
        chosen = asked[np.sort(np.unique(answers, axis=0, return_index=True)[1])]
        level = np.where(rng.random(len(item)) < agreeing, own, rng.choice([1, 2, 3, 4], len(item), p=LEVELS))
        is_right = rng.random(len(item)) < 0.95
        level = np.where(polarity == "positive", np.where(is_right, 1, 4), level)
        level = np.where(polarity == "negative", np.where(is_right, 4, 1), level)
        insert_rows(
            Judgment,
            {
                "assignment_id": sets[of_item[chosen], 1], "worker_id": sets[of_item[chosen], 2],
                "item_id": item[chosen], "image_id": image[chosen], "caption_id": caption[chosen],
                "level": level[chosen], "seconds": rng.integers(3, 40, len(chosen)), "shortcoming": "", "wrong_way": "",
                "at": now.isoformat(),
            },
        )  # fmt: skip


def write_conclusions(made) -> None:
    """Store a verdict for each pair, a version of them, and a waiting case for some."""
    from core.database.inserts import insert_rows
    from dataset.models import Case
    from dataset.releases.release import release
    from dataset.releases.release_parameters import ReleaseParameters
    from dataset.verdicts import aggregate_round
    from hits.models import Item

    aggregate_round(made)
    collection = made.pool.collection
    names = {"collection": collection.name, "queries": made.pool.sample.name, "rounds": (made.name,)}
    release(ReleaseParameters(version="v1", partial=True, **names))
    pairs = Item.objects.filter(control=None).order_by("image_id", "caption_id").values_list("image_id", "caption_id")
    image, caption = np.array(list(pairs.distinct()))[::800].T
    few = {"collection_id": collection.pk, "image_id": image, "caption_id": caption}
    now = datetime.now(UTC).isoformat()
    reasons = '{"disagreement": "votes 1, 4"}'
    insert_rows(Case, {**few, "reasons": reasons, "priority": 20, "opened_at": now})


def write_others(made) -> None:
    """Store a finished job, the figures of one on a benchmark, a chart, an export, a run with its scores, and make the
    version's page public."""
    import json

    from django.contrib.auth.models import User

    from annotation.people.qualification_tests import QualificationPlan, make_test
    from console.charts.plots import measure_chart
    from console.leaderboard.benchmark_boards import figures_path, measure_rankings
    from core.files.stored_files import write_file
    from core.models import Job
    from core.progress import silent
    from dataset.exports.downloads import make_download
    from dataset.models import Version
    from dataset.publications import publish
    from evaluation.models import Run, Score

    now = datetime.now(UTC)
    ended = {"state": "done", "message": "Done.", "finished_at": now}
    Job.objects.create(pk=JOB, title="Pool pool", task="none", **ended)
    job = Job.objects.create(pk=MEASURED, title="Measure", task=measure_rankings.name, **ended)
    figure = {"value": 0.5, "low": 0.4, "high": 0.6, "queries": 1_000}
    boards = {"model": {"notes": [], "eccv": {"i2t": {"mAP@R": figure}, "t2i": {"mAP@R": figure}}}}
    write_file(figures_path(job), json.dumps(boards).encode())
    version = Version.objects.get()
    make_test(
        "test", collection=version.collection, plan=QualificationPlan(3, 3, pass_mark=4, seed=1), actor="benchmark"
    )
    measure_chart(made, "workers", "", progress=silent)
    make_download(version, EXPORT)
    run = Run.objects.create(pk=1, collection=version.collection, model="annotator-1", sha256="")
    Score.objects.bulk_create(
        Score(run=run, version=version, metric=metric, direction=direction, **figure)
        for metric in ("R@1", "R@5", "R@10", "mAP@R", "R-Precision")
        for direction in ("i2t", "t2i")
    )
    publish(version, picture_terms="public domain", by=User.objects.create(username="publisher"))


def post() -> None:
    """Have the round be on MTurk's emulator: a posting of each HIT that is over, and the call that made it."""
    from django.db.models import CharField
    from django.db.models.functions import Cast

    from annotation.models import Assignment
    from core.database.inserts import insert_rows
    from crowd.models import Audit, Outbox, Posting, Visit
    from hits.models import Round

    where = {"channel": "mturk", "environment": "emulator"}
    now = datetime.now(UTC)
    Round.objects.update(settles=True, **where)
    made = Round.objects.get()
    hits = ids_of(made.hits)
    names = np.array([f"P{number}" for number in range(len(hits))])
    over = {"state": "closed", "seen_at": now.isoformat(), "settled_at": now.isoformat()}
    insert_rows(
        Posting,
        {
            "round_id": made.pk, "hit_id": hits, "external_id": names, "terms_id": "T", "excludes": "",
            "max_assignments": 2, "posted_assignments": 2, "status": "", "there": "", "freed": 0,
            "paused_itself": False, "pending": 0, "created_at": now.isoformat(),
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
                assignment_id=pk, posting_id=posting_of[hit], worker_id=worker, external_id=key, state="submitted",
                **where,
            )
            for pk, hit, worker, key in rows
        ),
        batch_size=5_000,
    )  # fmt: skip
    differing = {"difference": "only here", "of": "P1", "here": "closed", "there": "", "remedy": "note it"}
    Audit.objects.create(round=made, by="benchmark", differences=[{**differing, "repairable": True}])
    analyse()


def analyse() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
