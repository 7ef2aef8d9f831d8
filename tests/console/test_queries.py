"""Pages ask the database as often for many rows as for few."""

from collections.abc import Iterable

from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from core import events
from core.models import Job
from crowd.models import Outbox, Posting
from hits.models import Round
from tests.console.conftest import answer_rightly, answer_wrongly
from tests.factories import (
    make_annotator,
    make_collection,
    make_pool,
    make_retrieval,
    make_round,
    make_sample,
    put_on_platform,
)


def fill(number: int) -> None:
    """One more row of everything that lists show."""
    collection = make_collection(f"zoo-{number}", images=8, pictures=True)
    sample = make_sample(collection, f"queries-{number}")
    retrieval = make_retrieval(make_annotator(f"annotator-{number}"), sample)
    make_pool(sample, [retrieval], f"pool-{number}")
    answer_wrongly(make_round(collection, f"round-{number}"))
    answer_rightly(make_round(collection, f"right-{number}"))
    Job.objects.create(title="work", task="none")
    late_on_platform(put_on_platform(make_round(collection, f"there-{number}")))


def late_on_platform(made: Round) -> None:
    """A posting that was read long ago, a call that failed, and what the account held."""
    where = {"channel": "mturk", "environment": "emulator"}
    hit = made.hits.get()
    Posting.objects.create(round=made, hit=hit, max_assignments=1, state="live", seen_at="2026-01-01T00:00Z", **where)
    Outbox.objects.create(round=made, call="publish", subject=f"x:{made.pk}", state="failed", error="Refused.", **where)
    transaction.atomic(events.record)("account held", made, actor="sync", amount="0.01")


LISTS = ("/", "/pipeline/", "/workers/", "/calls/", "/collections/", "/annotators/", "/pools/", "/rounds/",
         "/review/?state=all", "/review/", "/jobs/", "/events/")  # fmt: skip


def queries_of(client, paths: Iterable[str]) -> dict[str, int]:
    """How many queries each page takes when it is opened again."""
    counts = {}
    for path in paths:
        client.get(path)
        with CaptureQueriesContext(connection) as asked:
            assert client.get(path).status_code == 200
        counts[path] = len(asked)
    return counts


def test_lists_ask_no_more_for_more_rows(researcher):
    fill(1)
    few = queries_of(researcher, LISTS)
    fill(2)
    fill(3)
    many = queries_of(researcher, LISTS)
    few["/"] += 12  # three more cards of open rounds; there are six at most
    assert {path: (few[path], many[path]) for path in LISTS if many[path] > min(few[path], 53)} == {}


def test_a_round_asks_no_more_for_more_hits_and_workers(researcher):
    made = make_round(hits=4)
    for _ in range(4):
        answer_rightly(made)
    most = {"": 38, "live/": 29, "workers/": 8, "hits/": 8, "hits/1/": 9}
    asked = queries_of(researcher, [f"/rounds/round-1/{part}" for part in most])
    assert {path: n for (path, n), limit in zip(asked.items(), most.values(), strict=True) if n > limit} == {}


def test_a_collection_asks_no_more_for_more_pictures(researcher, django_assert_max_num_queries):
    make_collection(images=24, captions_each=5)
    with django_assert_max_num_queries(18):
        assert researcher.get("/collections/zoo/").status_code == 200


def test_a_review_asks_no_more_for_more_pairs(researcher, django_assert_max_num_queries):
    assignment = answer_wrongly(make_round(make_collection(images=24), candidates=18))
    with django_assert_max_num_queries(17):
        assert researcher.get(f"/review/{assignment.pk}/").status_code == 200
