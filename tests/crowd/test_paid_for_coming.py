"""A visitor whose session got no HIT is paid, and is counted nowhere as a worker who did one."""

import pytest
from django.utils import timezone

from annotation.models import Assignment
from annotation.work.standing import standing_of
from annotation.work.worker_records import record_of, workers_of
from core.progress import silent
from dataset.releases.provenance import provenance_of
from evaluation.answered import AnswersParameters, read_answers
from tests.annotation.cast import answer
from tests.factories import make_round, make_worker


@pytest.fixture
def came_in_vain(db):
    """Two HITs, one of them answered, and two visitors without a HIT; a person decides about one."""
    made = make_round(hits=2)
    answer(made.hits.first(), 1, 4)
    now = timezone.now()
    Assignment.objects.update(submitted_at=now)
    for state in ("excluded", "flagged"):
        Assignment.objects.create(
            hit=made.hits.first(), has_hit=False, worker=make_worker(), state=state, outside_key=state,
            deadline=now, submitted_at=now,
        )  # fmt: skip
    return made


def test_a_version_counts_no_answer_set_of_theirs_as_excluded(came_in_vain):
    assert provenance_of(came_in_vain)["answer_sets"] == {"counted": 1, "excluded": 0}


def test_a_round_still_wants_the_answer_sets_that_they_did_not_give(came_in_vain):
    standing = standing_of(came_in_vain)
    assert (standing.missing, standing.workers, standing.waiting) == (1, 1, 1)


def test_they_are_no_workers_of_the_round(came_in_vain):
    assert [line.submitted for line in workers_of(came_in_vain)] == [1]
    excluded = Assignment.objects.get(state="excluded")
    assert (record_of(excluded.worker).submitted, record_of(excluded.worker).excluded) == (0, 0)


def test_the_table_of_workers_counts_no_hit_of_theirs(came_in_vain):
    assert len(read_answers(AnswersParameters(round=(came_in_vain.name,)), progress=silent).sets) == 1


def test_the_list_of_workers_counts_no_hit_of_theirs(member, came_in_vain):
    counts = {row.pseudonym: row.n_submitted for row in member.get("/workers/").context["rows"]}
    assert sorted(counts.values()) == [0, 0, 1]
