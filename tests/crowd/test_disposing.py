from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import Assignment
from crowd.models import Outbox, Posting
from crowd.postings import dispose_of_finished
from tests.factories import make_round, make_worker

SANDBOX = {"channel": "mturk", "environment": "sandbox"}


def posting(*, days: int, status: str = "approved", **fields) -> Posting:
    """A closed posting whose only work was submitted so many days ago."""
    then = timezone.now() - timedelta(days=days)
    made = Posting.objects.create(
        hit=make_round().hits.get(),
        **SANDBOX | {"external_id": "H1", "state": "closed", "settled_at": then, "max_assignments": 1} | fields,
    )
    work = {"external_id": "T1", "worker": make_worker(), "platform_state": status, "submitted_at": then}
    Assignment.objects.create(hit=made.hit, external_posting=made.external_id, deadline=then, **SANDBOX, **work)
    return made


def test_old_and_decided_hits_are_removed_once(db, platform, django_capture_on_commit_callbacks):
    made = posting(days=31)
    with django_capture_on_commit_callbacks(execute=True):
        assert [dispose_of_finished(), dispose_of_finished()] == [1, 0]
    made.refresh_from_db()
    assert made.state == "disposed"


@pytest.mark.parametrize(
    "kept",
    [
        {"days": 29},
        {"days": 31, "status": "submitted"},
        {"days": 31, "state": "live"},
        {"days": 31, "settled_at": None},
    ],
)
def test_a_hit_whose_work_could_still_be_decided_or_reversed_stays(db, platform, kept):
    posting(**{"days": 31} | kept)
    assert dispose_of_finished() == 0
    assert not Outbox.objects.exists()
