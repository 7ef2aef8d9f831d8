"""Lists come in parts that later rows do not shift."""

from datetime import timedelta

import pytest
from django.utils import timezone

from core.models import Job
from tests.console.api.calls import all_parts, check_refused


@pytest.fixture
def jobs(db) -> list[str]:
    """The ids of five jobs, the latest first; two began at the same time."""
    now = timezone.now()
    made = [Job.objects.create(title="x", task="none", created_at=now - timedelta(hours=n // 2)) for n in range(5)]
    return [str(job.pk) for job in sorted(made, key=lambda job: (job.created_at, job.pk), reverse=True)]


@pytest.mark.parametrize(("limit", "sizes"), [(2, [2, 2, 1]), (5, [5]), (1, [1] * 5), (50, [5])])
def test_the_parts_together_are_the_list(reader, jobs, limit, sizes):
    parts = [[job["id"] for job in part] for part in all_parts(reader, "/jobs?", limit)]
    assert [len(part) for part in parts] == sizes
    assert [id for part in parts for id in part] == jobs


def test_a_row_that_is_added_meanwhile_shifts_nothing(reader, jobs):
    first = reader.get("/jobs?limit=2").json()
    Job.objects.create(title="new", task="none")
    second = reader.get(f"/jobs?limit=2&after={first['next']}").json()
    assert [job["id"] for job in second["results"]] == jobs[2:4]


def test_an_empty_list_has_no_next_part(reader):
    assert reader.get("/jobs").json() == {"results": [], "next": None}


@pytest.mark.parametrize("after", ["1", "00000000-0000-0000-0000-000000000000", "é"])
def test_a_place_that_is_none_is_refused(reader, jobs, after):
    response = reader.get(f"/jobs?after={after}")
    assert response.status_code == 422
    assert "no place" in response.json()["detail"]


@pytest.mark.parametrize("limit", ["0", "1001", "x"])
def test_a_limit_beyond_the_bounds_is_refused(reader, limit):
    check_refused(reader.get(f"/jobs?limit={limit}"), 422, "limit: Input should be")
