"""Calls about webhooks and the list of events: what the pages do, for the owner of the token alone."""

from uuid import uuid4

import pytest
from django.db import transaction

from integrations import notifications
from integrations.models import Delivery, KeptAnswer, Notification, Webhook
from integrations.notifications import TYPES
from integrations.webhooks import secret_of
from tests.console.api.calls import caller_of, check_refused

pytestmark = pytest.mark.django_db

notify = transaction.atomic(notifications.notify)
BODY = {"address": "https://example.org/hook", "types": ["round.closed", "run.scored"]}


@pytest.fixture
def webhook(caller) -> Webhook:
    return Webhook.objects.create(owner=caller.token.owner, url=BODY["address"], types=BODY["types"])


@pytest.fixture
def delivery(webhook) -> Delivery:
    notify("round.closed", "/rounds/zebra", id="zebra")
    return Delivery.objects.get()


def test_a_webhook_is_added_read_and_listed_without_its_secret(caller):
    answer = caller.post("/webhooks", BODY)
    made = Webhook.objects.get()
    assert answer.status_code == 201
    shown = answer.json()
    assert (shown["id"], shown["address"], shown["types"], shown["state"]) == (
        str(made.pk),
        BODY["address"],
        BODY["types"],
        "on",
    )
    assert caller.client.get(shown["url"], headers={"Authorization": f"Bearer {caller.text}"}).json() == shown
    assert caller.get("/webhooks").json() == {"results": [shown], "next": None}
    assert secret_of(made).removeprefix("whsec_") not in answer.text + KeptAnswer.objects.get().body


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"address": "http://example.org/"}, "write it as https://example.org/counterpart"),
        ({"url": "https://example.org/"}, "url: Extra inputs are not permitted"),
    ],
)
def test_what_a_page_refuses_is_refused_with_the_sentence_and_changes_nothing(caller, change, sentence):
    check_refused(caller.post("/webhooks", BODY | change), 422, sentence)
    assert not Webhook.objects.exists()


def test_a_webhook_is_removed_once(caller, webhook, delivery):
    assert caller.delete(f"/webhooks/{webhook.pk}").status_code == 204
    assert caller.delete(f"/webhooks/{webhook.pk}").status_code == 404
    assert not Delivery.objects.exists()


def test_deliveries_have_the_id_of_their_message(caller, webhook, delivery):
    Delivery.objects.update(state="failed", attempts=8, due_at=None, status=503, error="The answer was 503.")
    (answer,) = caller.get(f"/webhooks/{webhook.pk}/deliveries").json()["results"]
    assert answer == {
        "id": delivery.pk,
        "message": str(delivery.notification_id),
        "type": "round.closed",
        "state": "failed",
        "attempts": 8,
        "status": 503,
        "error": "The answer was 503.",
        "tried_at": None,
        "due_at": None,
    }


def test_a_test_and_a_delivery_are_sent_once_for_a_key(caller, webhook, delivery, commit, monkeypatch):
    sent = []
    monkeypatch.setattr("integrations.deliveries._send", lambda one: (sent.append(one.pk), (204, ""))[1])
    again = f"/webhooks/{webhook.pk}/deliveries/{delivery.pk}/send"
    for path in (again, f"/webhooks/{webhook.pk}/test"):
        key = uuid4().hex
        for _ in range(2):
            with commit(execute=True):
                assert caller.post(path, key=key).status_code == 202
    assert sent == [delivery.pk, Delivery.objects.latest("pk").pk]
    assert set(Delivery.objects.values_list("state", flat=True)) == {"delivered"}


def test_a_webhook_of_another_person_is_not_found(webhook, delivery):
    """For an admin neither."""
    other = caller_of("admin")
    path = f"/webhooks/{webhook.pk}"
    assert other.get("/webhooks").json()["results"] == []
    answers = [other.get(path), other.get(f"{path}/deliveries"), other.delete(path), other.post(f"{path}/test")]
    answers.append(other.post(f"{path}/deliveries/{delivery.pk}/send"))
    assert [one.status_code for one in answers] == [404] * 5
    assert Webhook.objects.exists()
    assert Notification.objects.count() == 1


def test_events_are_listed_the_oldest_first_and_gone_on_with_by_place(caller):
    for number in range(3):
        notify("round.closed", f"/rounds/r{number}", id=f"r{number}")
    first = caller.get("/events?limit=2").json()
    assert [one["data"]["id"] for one in first["results"]] == ["r0", "r1"]
    (last,) = caller.get(f"/events?after={first['next']}").json()["results"]
    assert last["id"] == str(Notification.objects.latest("at").pk)
    assert last["data"] == {"id": "r2", "url": "http://127.0.0.1:8000/api/v1/rounds/r2"}
    assert caller.get(f"/events?after={last['place']}").json() == {"results": [], "next": None}
    notify("run.scored", "/runs/1", id=1)
    (news,) = caller.get(f"/events?after={last['place']}").json()["results"]
    assert (news["type"], news["place"]) == ("run.scored", 4)


def test_events_of_one_type_are_asked_for_and_an_unknown_one_is_refused(caller):
    for kind in TYPES:
        notify(kind, "/rounds/zebra", id="zebra")
    assert [one["type"] for one in caller.get("/events?type=run.scored").json()["results"]] == ["run.scored"]
    assert len(caller.get("/events").json()["results"]) == len(TYPES)
    assert "'run'" in caller.get("/events?type=run").json()["detail"]


def test_more_events_than_are_numbered_at_once_are_all_listed(caller, monkeypatch):
    monkeypatch.setattr(notifications, "AT_ONCE", 2)
    for number in range(5):
        notify("round.closed", "/rounds/zebra", id=number)
    assert [one["data"]["id"] for one in caller.get("/events").json()["results"]] == [0, 1, 2, 3, 4]
