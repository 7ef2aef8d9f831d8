"""Deliveries to a receiver that works, fails, hangs, redirects, is gone or moves."""

import json
import socket
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.utils import timezone

from core.errors import CounterpartError
from core.models import Event
from core.web import public_network
from integrations import deliveries
from integrations.deliveries import WAITS, deliver, purge_notifications, send_again, send_due
from integrations.models import Delivery, Notification, Webhook
from integrations.notifications import number_new
from integrations.tasks import deliver as task
from integrations.webhooks import send_test, switch_off, switch_on
from tests.integrations.receiving import again, notify, outcome, pass_time, tell

pytestmark = pytest.mark.django_db


def test_a_notification_is_delivered_once_its_change_is_committed(webhook, receiver, commit):
    with commit(execute=True):
        delivery = tell(webhook)
    assert outcome(delivery) == ("delivered", 1, 204, "")
    deliver(delivery.pk)
    ((headers, body),) = receiver.sent
    assert headers["content-type"] == "application/json"
    assert headers["webhook-id"] == str(delivery.notification_id)
    sent = json.loads(body)
    data = {"id": "zebra", "url": "http://127.0.0.1:8000/api/v1/rounds/zebra"}
    assert (sent["type"], sent["data"]) == ("round.closed", data)
    assert sent["timestamp"].endswith("Z")


def test_a_broker_that_is_down_changes_nothing_and_the_clock_delivers(webhook, receiver, commit, monkeypatch):
    def down(*_: object, **__: object) -> None:
        raise OSError

    with monkeypatch.context() as patch:
        patch.setattr(task, "apply_async", down)
        with commit(execute=True):
            delivery = tell(webhook)
    assert outcome(delivery) == ("waiting", 0, None, "")
    assert send_due() == 1
    assert outcome(delivery) == ("delivered", 1, 204, "")
    assert send_due() == 0


def test_a_failure_is_tried_again_seven_times_at_the_given_times(webhook, delivery, receiver):
    receiver.mode = 500
    for tried, wait in enumerate(WAITS, 1):
        deliver(delivery.pk)
        assert outcome(delivery) == ("waiting", tried, 500, "The answer was 500.")
        due = again(delivery).due_at - timezone.now()
        assert wait - timedelta(seconds=3) < due <= wait
        deliver(delivery.pk)  # not due yet
        pass_time(seconds=wait.total_seconds())
    deliver(delivery.pk)
    assert outcome(delivery) == ("failed", 8, 500, "The answer was 500.")
    assert again(delivery).due_at is None
    assert len(receiver.sent) == 8
    assert set(receiver.ids) == {str(delivery.notification_id)}


def test_only_the_first_failure_is_tried_again_without_the_clock(webhook, delivery, receiver, commit, monkeypatch):
    sent: list[dict[str, object]] = []
    monkeypatch.setattr(task, "apply_async", lambda args, *_, **how: sent.append({"args": args, **how}))
    receiver.mode = 500
    for _ in range(2):
        with commit(execute=True):
            deliver(delivery.pk)
        pass_time(seconds=5)
    assert sent == [{"args": (delivery.pk,), "countdown": 5.0}]


def test_a_success_ends_the_failures(webhook, delivery, receiver):
    receiver.mode = 500
    deliver(delivery.pk)
    assert again(webhook).state == "failing"
    receiver.mode = 200
    pass_time(seconds=5)
    deliver(delivery.pk)
    assert outcome(delivery) == ("delivered", 2, 200, "")
    assert again(webhook).state == "on"


@pytest.mark.parametrize("mode", ["silent", "slow"])
def test_an_answer_that_never_ends_is_not_waited_for(webhook, delivery, receiver, monkeypatch, mode):
    receiver.mode = mode
    monkeypatch.setattr(deliveries, "SECONDS", 0.3)
    begun = timezone.now()
    deliver(delivery.pk)
    assert outcome(delivery) == ("waiting", 1, None, "No answer within 0.3 seconds.")
    assert timezone.now() - begun < timedelta(seconds=3)


def test_a_redirect_is_not_followed(webhook, delivery, receiver):
    receiver.mode = 307
    deliver(delivery.pk)
    assert outcome(delivery) == ("waiting", 1, 307, "The answer was 307.")
    assert len(receiver.sent) == 1


def test_an_address_that_moves_into_a_private_network_gets_nothing(webhook, delivery, receiver, monkeypatch):
    asked = []

    def found(host: str, port: int, *_: object, **__: object) -> list[tuple[object, ...]]:
        asked.append(host)
        is_inside = asked.count("hooks.example.org") > 1
        return [(socket.AF_INET, 1, 6, "", ("10.0.0.1" if is_inside else "127.0.0.1", port))]

    url = receiver.url.replace("127.0.0.1", "hooks.example.org")
    Webhook.objects.update(url=url)
    monkeypatch.setattr(public_network.socket, "getaddrinfo", found)
    deliver(delivery.pk)
    assert outcome(delivery) == ("delivered", 1, 204, "")
    assert asked.count("hooks.example.org") == 1  # what was checked is what was connected to
    moved = tell(webhook)
    deliver(moved.pk)
    assert outcome(moved) == (
        "waiting",
        1,
        None,
        "It cannot be reached: hooks.example.org is not on the public internet.",
    )
    assert len(receiver.sent) == 1


def test_an_answer_of_410_switches_the_webhook_off(webhook, delivery, receiver, settings, commit):
    settings.EMAIL_HOST = "mail.example.org"
    receiver.mode, waiting = 410, tell(webhook)
    with commit(execute=True):
        deliver(delivery.pk)
    found = again(webhook)
    assert (found.state, found.reason) == ("off", "It answered that it is gone (410).")
    assert outcome(delivery) == ("failed", 1, 410, "The webhook was switched off.")
    assert outcome(waiting) == ("failed", 0, None, "The webhook was switched off.")
    (sent,) = mail.outbox
    assert sent.to == ["robin@example.org"]
    assert "127.0.0.1" in sent.body
    assert "/hook" not in sent.body


def test_five_days_of_nothing_but_failure_switch_the_webhook_off(webhook, delivery, receiver):
    receiver.mode = 500
    deliver(delivery.pk)
    pass_time(days=4.9)
    deliver(delivery.pk)
    assert again(webhook).state == "failing"
    pass_time(days=0.2)
    deliver(delivery.pk)
    assert (again(webhook).state, again(webhook).reason) == ("off", "It has failed for five days.")
    assert Event.objects.filter(verb="webhook off", actor="delivery").count() == 1
    notify("round.closed", "/rounds/zebra", id="zebra")
    assert webhook.deliveries.count() == 1


def test_a_webhook_that_fails_rests_and_its_other_deliveries_wait(webhook, delivery, receiver):
    receiver.mode, other = 500, tell(webhook)
    deliver(delivery.pk)
    deliver(other.pk)
    assert outcome(other) == ("waiting", 0, None, "")
    assert send_due() == 0
    pass_time(seconds=5)
    assert send_due() == 2  # of which the first fails, so that the webhook rests again
    assert len(receiver.sent) == 2
    pass_time(minutes=4)
    assert send_due() == 0


def test_a_worker_that_dies_before_the_answer_leaves_the_delivery_to_the_clock(
    webhook, delivery, receiver, monkeypatch
):
    post = public_network.post

    def post_and_die(*given: object, **named: object) -> None:
        post(*given, **named)
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(public_network, "post", post_and_die)
        with pytest.raises(SystemExit):
            deliver(delivery.pk)
    deliver(delivery.pk)
    assert outcome(delivery) == ("waiting", 1, None, "")
    assert send_due() == 0
    pass_time(minutes=2)
    assert send_due() == 1
    assert outcome(delivery) == ("delivered", 2, 204, "")
    assert receiver.ids == [str(delivery.notification_id)] * 2


def test_of_two_tasks_at_once_one_delivers(webhook, delivery, receiver, monkeypatch):
    send = deliveries._send

    def twice(claimed: Delivery) -> tuple[int | None, str]:
        deliver(claimed.pk)
        return send(claimed)

    monkeypatch.setattr(deliveries, "_send", twice)
    deliver(delivery.pk)
    assert outcome(delivery) == ("delivered", 1, 204, "")
    assert len(receiver.sent) == 1


def test_nothing_is_sent_for_a_deactivated_owner(webhook, delivery, receiver, owner):
    User.objects.filter(pk=owner.pk).update(is_active=False)
    deliver(delivery.pk)
    assert send_due() == 0
    assert receiver.sent == []
    assert outcome(delivery) == ("waiting", 0, None, "")


def test_nothing_is_sent_for_an_owner_who_lost_the_role(webhook, delivery, receiver, owner):
    owner.groups.clear()
    deliver(delivery.pk)
    assert receiver.sent == []
    assert (again(webhook).state, again(webhook).reason) == ("off", "Your role does not allow webhooks any more.")


def test_a_delivery_is_sent_again_with_the_same_id_whatever_failed_before(webhook, delivery, receiver, commit):
    receiver.mode = 500
    deliver(delivery.pk)
    receiver.mode = 200
    with commit(execute=True):
        send_again(again(delivery))
    assert outcome(delivery) == ("delivered", 1, 200, "")
    with commit(execute=True):
        send_again(again(delivery))
    assert receiver.ids == [str(delivery.notification_id)] * 3


def test_a_test_is_delivered_alike_and_is_not_an_event_of_the_site(webhook, receiver, commit):
    with commit(execute=True):
        delivery = send_test(webhook)
    assert outcome(delivery) == ("delivered", 1, 204, "")
    assert json.loads(receiver.sent[0][1])["type"] == "test"
    number_new()
    assert Notification.objects.get().place is None


def test_a_webhook_that_is_off_takes_no_test_and_nothing_again(webhook, delivery, owner):
    switch_off(webhook, by=owner)
    for act in (lambda: send_test(webhook), lambda: send_again(delivery)):
        with pytest.raises(CounterpartError, match="is off"):
            act()
    assert outcome(delivery)[0] == "failed"
    assert Notification.objects.count() == 1
    assert switch_on(webhook, by=owner)
    assert not switch_on(webhook, by=owner)
    assert again(webhook).state == "on"


def test_old_notifications_go_with_their_deliveries_but_places_count_on(webhook, delivery):
    number_new()
    Notification.objects.update(at=timezone.now() - timedelta(days=31))
    assert purge_notifications() == 0  # the last place
    tell(webhook, "horse")
    number_new()
    assert purge_notifications() == 1
    assert list(Notification.objects.values_list("place", "data__id")) == [(2, "horse")]
    assert not Delivery.objects.filter(pk=delivery.pk).exists()
