import pytest
from django.db import transaction

from core import events
from core.events import subject_of
from core.models import Event
from corpus.models import Collection

record = transaction.atomic(events.record)


@pytest.fixture
def zoo(db) -> Collection:
    return Collection.objects.create(name="zoo")


def test_a_row_is_named_by_app_model_and_key(zoo):
    assert subject_of(zoo) == f"corpus.collection:{zoo.pk}"


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


def test_an_event_reads_as_a_sentence(zoo):
    assert str(record("imported", zoo, actor="robin")) == f"robin imported corpus.collection:{zoo.pk}"


def test_the_newest_event_comes_first(zoo):
    record("imported", zoo, actor="robin")
    record("changed", zoo, actor="robin")
    assert list(Event.objects.values_list("verb", flat=True)) == ["changed", "imported"]


def test_an_event_vanishes_with_the_change_that_it_tells_of(zoo):
    with transaction.atomic():
        record("imported", zoo, actor="robin")
        transaction.set_rollback(True)
    assert not Event.objects.exists()


def test_a_test_fails_where_a_lock_or_an_event_has_no_transaction_of_its_own(zoo):
    for alone in (Collection.objects.select_for_update().first, lambda: events.record("imported", zoo, actor="robin")):
        with pytest.raises(transaction.TransactionManagementError, match="outside a transaction of its own"):
            alone()


def test_data_that_does_not_fit_in_json_is_refused(zoo):
    with pytest.raises(TypeError), transaction.atomic():
        record("imported", zoo, actor="robin", images={1, 2})
    assert not Event.objects.exists()
