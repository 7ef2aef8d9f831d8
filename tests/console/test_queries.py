"""Pages ask the database as often for many rows as for few."""

from collections.abc import Iterable

from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import Job
from tests.console.api.calls import caller_for
from tests.console.conftest import answer_rightly, answer_wrongly, late_on_platform
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


def test_lists_of_the_api_ask_no_more_for_more_rows(person):
    caller = caller_for(person)
    lists = ("/collections", "/samples", "/annotators", "/retrievals", "/pools", "/rounds", "/jobs")
    fill(1)
    few = queries_of(caller, lists)
    fill(2)
    fill(3)
    many = queries_of(caller, lists)
    assert {path: (few[path], many[path]) for path in lists if many[path] > few[path]} == {}


def test_a_round_asks_no_more_for_more_hits_and_workers(researcher):
    made = make_round(hits=4)
    for _ in range(4):
        answer_rightly(made)
    most = {"": 39, "live/": 30, "workers/": 8, "hits/": 8, "hits/1/": 9}
    asked = queries_of(researcher, [f"/rounds/round-1/{part}" for part in most])
    assert {path: n for (path, n), limit in zip(asked.items(), most.values(), strict=True) if n > limit} == {}


def test_a_review_asks_no_more_for_more_pairs(researcher, django_assert_max_num_queries):
    assignment = answer_wrongly(make_round(make_collection(images=24), candidates=18))
    with django_assert_max_num_queries(17):
        assert researcher.get(f"/review/{assignment.pk}/").status_code == 200
