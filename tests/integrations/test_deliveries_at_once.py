"""Several workers, clocks and readers at the same moment, and a worker that is killed: on PostgreSQL."""

import os
import signal
import subprocess
import sys
from datetime import timedelta
from threading import Event

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection, transaction
from django.db.models import F

from annotation.work.milestones import notify_milestones
from hits.models import Seat
from integrations import notifications
from integrations.deliveries import deliver, send_due
from integrations.models import Delivery, Notification, Webhook
from integrations.notifications import number_new
from tests.at_once import at_once
from tests.factories import make_round
from tests.integrations.receiving import receiver

__all__ = ["receiver"]
pytestmark = [pytest.mark.service, pytest.mark.django_db(transaction=True)]

notify = transaction.atomic(notifications.notify)


@pytest.fixture
def delivery(transactional_db, receiver) -> Delivery:
    if connection.vendor == "sqlite":
        pytest.skip("needs PostgreSQL")
    owner = User.objects.create_user(username="robin")
    owner.groups.add(Group.objects.get(name="researcher"))
    webhook = Webhook.objects.create(owner=owner, url=receiver.url, types=["round.closed"])
    answer = Notification(type="round.closed", data={"id": "zebra"})
    with transaction.atomic():
        answer.save()
    return Delivery.objects.create(webhook=webhook, notification=answer)


def test_of_many_workers_one_delivers(delivery, receiver):
    at_once(*[lambda: deliver(delivery.pk)] * 6)
    assert receiver.ids == [str(delivery.notification_id)]
    assert Delivery.objects.get().attempts == 1


def test_a_delivery_whose_worker_was_killed_before_it_heard_the_answer_is_made_again_with_its_id(delivery, receiver):
    database = f"{os.environ['DATABASE_URL'].rsplit('/', 1)[0]}/{connection.settings_dict['NAME']}"
    outcome = subprocess.run(
        [sys.executable, "-m", "tests.integrations.killed_delivery", str(delivery.pk)],
        env=os.environ | {"DATABASE_URL": database},
        capture_output=True,
        text=True,
    )
    assert outcome.returncode == -signal.SIGKILL, outcome.stdout + outcome.stderr
    assert send_due() == 0
    Delivery.objects.update(due_at=F("due_at") - timedelta(minutes=2))
    assert send_due() == 1
    assert receiver.ids == [str(delivery.notification_id)] * 2
    assert Delivery.objects.get().state == "delivered"


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


def test_of_many_clocks_one_notifies_of_a_step(delivery):
    make_round(hits=10)
    Seat.objects.filter(pk__in=Seat.objects.values("pk")[:5]).update(state="filled")
    at_once(*[notify_milestones] * 6)
    assert Notification.objects.filter(type="round.progress").count() == 1
