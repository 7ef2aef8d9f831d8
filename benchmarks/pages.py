"""Response times of staff pages for a round of 46,591 pairs: python -m benchmarks.pages CAPTIONS.jsonl.gz

Builds the round of ``benchmarks.import_pool_pack``, answers 100 of its HITs, and prints the median milliseconds and
the number of queries of each page, in process, without a network.
"""

import argparse
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks.fixtures import Stopwatch, fresh_database
from benchmarks.import_pool_pack import build_round

ANSWERED, REPEATS = 100, 5
PAGES = (
    "/", "/collections/coco/", "/machines/", "/machines/annotator-0/", "/pools/pool/", "/rounds/", "/rounds/round/",
    "/rounds/round/hits/", "/rounds/round/hits/1/", "/judgments/", "/review/", "/versions/", "/journal/",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("captions", type=Path, help="a JSONL file of captions, plain or .gz")
    captions: Path = parser.parse_args().captions
    with fresh_database():
        build_round(captions, Stopwatch())
        answer_some()
        measure_pages()


def answer_some() -> None:
    """Answer the first HITs, each as a different worker."""
    from annotation.answers import Answer
    from annotation.leases import lease_seat
    from annotation.submissions import submit_answers
    from annotation.workers import give_consent, worker_for
    from crowd.publication import publish_round
    from hits.models import Round

    made = publish_round(Round.objects.get(), skip_missing=True, actor="benchmark")
    for number in range(ANSWERED):
        worker = worker_for(channel="simulation", external_id=str(number))
        give_consent(worker)
        worker.refresh_from_db()
        assignment = lease_seat(made, worker=worker)
        answers = [Answer(item.pk, 1 if number % 3 else 4) for item in assignment.hit.items.all()]
        submit_answers(assignment, answers=answers, active_seconds=300)


def measure_pages() -> None:
    from django.contrib.auth.models import User
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client()
    client.force_login(User.objects.create_superuser("benchmark"))
    for page in PAGES:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(page).status_code == 200, page
        count, times = len(queries), []
        for _ in range(REPEATS):
            begun = perf_counter()
            client.get(page)
            times.append(1000 * (perf_counter() - begun))
        print(f"{median(times):8.0f} ms {count:4} queries  {page}", flush=True)


if __name__ == "__main__":
    main()
