import pytest
from django.db import transaction

from core import events
from core.models import Event
from corpus.models import Collection

record = transaction.atomic(events.record)


@pytest.fixture
def zoo(db) -> Collection:
    return Collection.objects.create(name="zoo")


def test_an_event_keeps_who_did_what_to_which_row(zoo):
    record("imported", zoo, actor="robin", images=3)
    event = Event.objects.get()
    assert (event.actor, event.verb, event.subject, event.data) == (
        "robin",
        "imported",
        f"corpus.collection:{zoo.pk}",
        {"images": 3},
    )
    assert event.at is not None


def test_an_event_vanishes_with_its_change(zoo):
    with transaction.atomic():
        record("imported", zoo, actor="robin")
        transaction.set_rollback(True)
    assert not Event.objects.exists()


def test_a_test_fails_where_a_lock_or_an_event_has_no_transaction_of_its_own(zoo):
    for alone in (Collection.objects.select_for_update().first, lambda: events.record("imported", zoo, actor="robin")):
        with pytest.raises(transaction.TransactionManagementError, match="of its own"):
            alone()


def test_data_that_does_not_fit_in_json_is_refused(zoo):
    with pytest.raises(TypeError), transaction.atomic():
        record("imported", zoo, actor="robin", images={1, 2})
    assert not Event.objects.exists()
