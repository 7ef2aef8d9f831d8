"""Response times of staff pages for a round of 46,591 pairs: python -m benchmarks.pages CAPTIONS.jsonl.gz

Builds the round of ``benchmarks.import_pool_pack``, answers 100 of its HITs, and prints the median milliseconds and
the number of queries of each page, in process, without a network. Then answers all HITs, releases the round, and does
the same for the pages that say how far to trust it, with the seconds of the first visit.
"""

import argparse
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks.fixtures import Stopwatch, fresh_database
from benchmarks.import_pool_pack import build_round

ANSWERED, REPEATS = 100, 5
PAGES = (
    "/", "/collections/coco/", "/annotators/", "/annotators/annotator-0/", "/pools/pool/", "/rounds/", "/rounds/round/",
    "/rounds/round/live/",
    "/rounds/round/hits/", "/rounds/round/hits/1/", "/rounds/round/pairs/", "/review/?state=all", "/review/",
    "/versions/", "/events/",
)  # fmt: skip
OF_TRUST = ("/versions/v1/", "/versions/v1/trust/", "/rounds/round/effect/")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("captions", type=Path, help="a JSONL file of captions, plain or .gz")
    captions: Path = parser.parse_args().captions
    with fresh_database():
        build_round(captions, Stopwatch())
        answer_some()
        measure_pages(PAGES)
        answer_all()
        measure_pages(OF_TRUST)


def answer_some() -> None:
    """Answer the first HITs, each as a different worker."""
    from annotation.people.consent import give_consent
    from annotation.people.workers import worker_for
    from annotation.work.answers import Answer
    from annotation.work.leases import lease_seat
    from annotation.work.submissions import submit_answers
    from crowd.publication import publish_round
    from hits.models import Round

    made = publish_round(Round.objects.get(), skip_missing=True, below_floor=True, actor="benchmark")
    for number in range(ANSWERED):
        worker = worker_for(channel="simulation", external_id=str(number))
        give_consent(worker)
        worker.refresh_from_db()
        assignment = lease_seat(made, worker=worker)
        answers = [Answer(item.pk, 1 if number % 3 else 4) for item in assignment.hit.items.all()]
        submit_answers(assignment, answers=answers, active_seconds=300)


def answer_all() -> None:
    """Store an accepted answer set for each HIT that has none, and release the round."""
    from datetime import UTC, datetime, timedelta

    import numpy as np

    from annotation.models import Assignment, Judgment, Worker
    from core.inserts import insert_rows
    from dataset.release import release_version
    from hits.models import Item, Round, Seat

    made = Round.objects.get()
    now = datetime.now(UTC)
    rng = np.random.default_rng(0)
    Assignment.objects.filter(state="flagged").update(state="accepted")
    workers = Worker.objects.bulk_create(Worker() for _ in range(50))
    seats = list(Seat.objects.filter(hit__round=made, state="open").order_by("pk"))
    sets = Assignment.objects.bulk_create(
        Assignment(
            seat=seat, hit_id=seat.hit_id, worker=workers[n % 50], state="accepted", deadline=now,
            submitted_at=now + timedelta(minutes=n),
        )
        for n, seat in enumerate(seats)
    )  # fmt: skip
    Seat.objects.filter(pk__in=[seat.pk for seat in seats]).update(state="filled")
    by_hit = {one.hit_id: one for one in sets}
    items = list(Item.objects.filter(hit__in=by_hit).values_list("pk", "image_id", "caption_id", "hit_id"))
    item, image, caption, hit = np.array(items).T
    level = rng.choice([1, 2, 3, 4], len(item), p=[0.1, 0.1, 0.2, 0.6])
    insert_rows(
        Judgment,
        {
            "assignment_id": np.array([by_hit[one].pk for one in hit]), "item_id": item,
            "worker_id": np.array([by_hit[one].worker_id for one in hit]), "image_id": image, "caption_id": caption,
            "level": level, "at": np.array([str(by_hit[one].submitted_at) for one in hit]),
            "shortcoming": "", "wrong_way": "",
        },
    )  # fmt: skip
    release_version(
        "v1", collection=made.pool.collection, sample=made.pool.sample, rounds=[made], merge="original", partial=True
    )


def measure_pages(pages: tuple[str, ...]) -> None:
    from django.contrib.auth.models import User
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.filter(is_superuser=True).first() or User.objects.create_superuser("benchmark"))
    for page in pages:
        begun = perf_counter()
        with CaptureQueriesContext(connection) as queries:
            assert client.get(page).status_code == 200, page
        first = perf_counter() - begun
        count = len(queries)
        times = []
        for _ in range(REPEATS):
            begun = perf_counter()
            client.get(page)
            times.append(1000 * (perf_counter() - begun))
        print(f"{median(times):8.0f} ms {count:4} queries  first {first:6.2f} s  {page}", flush=True)


if __name__ == "__main__":
    main()
