"""What of a sync the journal keeps: news, and what the account holds."""

import pytest

from core.models import Event
from crowd.tasks import sync_one
from tests.crowd.platform import published, rehearsal, sync

__all__ = ["rehearsal"]


@pytest.fixture
def commit(django_capture_on_commit_callbacks):
    return django_capture_on_commit_callbacks


def test_the_journal_keeps_what_a_sync_brought_and_no_sync_that_brought_nothing(rehearsal, commit):
    made = published(hits=1, commit=commit)
    sync(made, commit)
    rehearsal.work(rehearsal.hits()[0], rehearsal.worker())
    sync(made, commit), sync(made, commit)
    assert Event.objects.get(verb="synced").data == {"submitted": 1, "taken_in": 1, "asked_for": 0}


def test_the_clocks_sync_notes_what_the_account_holds(rehearsal, commit):
    made = published(hits=1, commit=commit)
    sync_one(made.pk), sync_one(made.pk)
    assert Event.objects.get(verb="account held").data == {"amount": "9999.22"}
