"""Several workers and readers at the same moment: on PostgreSQL."""

from threading import Event

import pytest
from django.db import connection, transaction

from integrations import notifications
from integrations.deliveries import deliver
from integrations.models import Delivery, Notification
from integrations.notifications import number_new
from tests.at_once import at_once
from tests.integrations.receiving import notify

pytestmark = [pytest.mark.service, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def delivery(transactional_db, webhook) -> Delivery:
    if connection.vendor == "sqlite":
        pytest.skip("needs PostgreSQL")
    answer = Notification(type="round.closed", data={"id": "zebra"})
    with transaction.atomic():
        answer.save()
    return Delivery.objects.create(webhook=webhook, notification=answer)


def test_of_many_workers_one_delivers(delivery, receiver):
    at_once(*[lambda: deliver(delivery.pk)] * 6)
    assert receiver.ids == [str(delivery.notification_id)]
    assert Delivery.objects.get().attempts == 1


def test_many_readers_give_each_event_one_place(delivery):
    for _ in range(30):
        notify("run.scored", "/runs/1", id=1)
    at_once(*[number_new] * 6)
    number_new()
    assert list(Notification.objects.order_by("place").values_list("place", flat=True)) == list(range(1, 32))


def test_an_event_that_is_committed_after_a_later_one_was_read_gets_a_later_place(delivery):
    written, read = Event(), Event()

    def late() -> None:
        with transaction.atomic():
            notifications.notify("run.scored", "/runs/1", id="late")
            written.set()
            assert read.wait(30)

    def reader() -> None:
        assert written.wait(30)
        notify("run.scored", "/runs/2", id="early")
        number_new()
        read.set()

    at_once(late, reader)
    number_new()
    placed = Notification.objects.order_by("place").values_list("data__id", flat=True)
    assert list(placed) == ["zebra", "early", "late"]
