"""Calls about webhooks and the list of events: what the pages do, for the owner of the token alone."""

from uuid import uuid4

import pytest
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.utils import timezone

from integrations import notifications
from integrations.models import Delivery, KeptAnswer, Notification, Webhook
from integrations.notifications import TYPES
from integrations.webhook_secrets import secret_of
from integrations.webhooks import switch_off
from tests.console.api.calls import Caller, caller_for

pytestmark = pytest.mark.django_db

notify = transaction.atomic(notifications.notify)
BODY = {"address": "https://example.org/hook", "types": ["round.closed", "run.scored"]}


def user_with(role: str, name: str = "") -> User:
    user = User.objects.create_user(username=name or role)
    user.groups.add(Group.objects.get(name=role))
    return user


@pytest.fixture
def caller() -> Caller:
    return caller_for(user_with("researcher"))


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
    told = answer.json()
    assert (told["id"], told["address"], told["types"], told["state"]) == (
        str(made.pk),
        BODY["address"],
        BODY["types"],
        "on",
    )
    assert caller.client.get(told["url"], headers={"Authorization": f"Bearer {caller.text}"}).json() == told
    assert caller.get("/webhooks").json() == {"results": [told], "next": None}
    assert secret_of(made).removeprefix("whsec_") not in answer.text + KeptAnswer.objects.get().body


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"address": "http://example.org/"}, "write it as https://example.org/counterpart"),
        ({"types": ["round.opened"]}, "1 unknown type: round.opened."),
        ({"types": []}, "types: List should have at least 1 item"),
        ({"url": "https://example.org/"}, "url: Extra inputs are not permitted"),
    ],
)
def test_what_a_page_refuses_is_refused_with_the_sentence_and_changes_nothing(caller, change, sentence):
    answer = caller.post("/webhooks", BODY | change)
    assert answer.status_code == 422
    assert sentence in answer.json()["detail"]
    assert not Webhook.objects.exists()


def test_a_webhook_is_removed_once(caller, webhook, delivery):
    assert caller.delete(f"/webhooks/{webhook.pk}").status_code == 204
    assert caller.delete(f"/webhooks/{webhook.pk}").status_code == 404
    assert not Delivery.objects.exists()


def test_deliveries_are_told_with_the_id_that_they_are_sent_with(caller, webhook, delivery):
    Delivery.objects.update(state="failed", attempts=8, due_at=None, status=503, error="The answer was 503.")
    (told,) = caller.get(f"/webhooks/{webhook.pk}/deliveries").json()["results"]
    assert told == {
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


def test_many_deliveries_take_as_many_queries_as_one(caller, webhook, delivery, django_assert_max_num_queries):
    for _ in range(5):
        notify("round.closed", "/rounds/zebra", id="zebra")
    with django_assert_max_num_queries(6):
        answer = caller.get(f"/webhooks/{webhook.pk}/deliveries?limit=4").json()
    assert len(answer["results"]) == 4
    assert len(caller.get(f"/webhooks/{webhook.pk}/deliveries?after={answer['next']}").json()["results"]) == 2


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


def test_a_webhook_that_is_off_takes_no_test_and_nothing_again(caller, webhook, delivery):
    switch_off(webhook, by=webhook.owner)
    for path in ("test", f"deliveries/{delivery.pk}/send"):
        answer = caller.post(f"/webhooks/{webhook.pk}/{path}")
        assert (answer.status_code, answer.json()["detail"]) == (409, "The webhook is off. Switch it on first.")
    assert Notification.objects.count() == 1


def test_a_webhook_of_somebody_else_is_not_there(webhook, delivery):
    """For an admin neither."""
    other = caller_for(user_with("admin"))
    path = f"/webhooks/{webhook.pk}"
    assert other.get("/webhooks").json()["results"] == []
    answers = [other.get(path), other.get(f"{path}/deliveries"), other.delete(path), other.post(f"{path}/test")]
    answers.append(other.post(f"{path}/deliveries/{delivery.pk}/send"))
    assert [one.status_code for one in answers] == [404] * 5
    assert Webhook.objects.exists()
    assert Notification.objects.count() == 1


def test_a_delivery_is_found_under_its_own_webhook_alone(caller, webhook, delivery):
    mine = Webhook.objects.create(owner=webhook.owner, url=webhook.url, types=[])
    assert caller.post(f"/webhooks/{mine.pk}/deliveries/{delivery.pk}/send").status_code == 404


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


def test_an_event_that_is_committed_late_is_told_after_what_was_read_before(caller):
    late = Notification(type="round.closed", data={"id": "late"}, at=timezone.now())
    notify("round.closed", "/rounds/zebra", id="zebra")
    read = caller.get("/events").json()["results"]
    transaction.atomic(late.save)()
    (told,) = caller.get(f"/events?after={read[-1]['place']}").json()["results"]
    assert told["data"] == {"id": "late"}


def test_events_of_one_type_are_asked_for_and_an_unknown_one_is_refused(caller):
    for type in TYPES:
        notify(type, "/rounds/zebra", id="zebra")
    assert [one["type"] for one in caller.get("/events?type=run.scored").json()["results"]] == ["run.scored"]
    assert len(caller.get("/events").json()["results"]) == len(TYPES)
    assert "There is no type 'run'" in caller.get("/events?type=run").json()["detail"]


def test_more_events_than_are_numbered_at_once_are_all_told(caller, monkeypatch):
    monkeypatch.setattr(notifications, "AT_ONCE", 2)
    for number in range(5):
        notify("round.closed", "/rounds/zebra", id=number)
    assert [one["data"]["id"] for one in caller.get("/events").json()["results"]] == [0, 1, 2, 3, 4]


def test_a_place_that_is_none_is_refused(caller):
    for place in ("x", "-", "1.5"):
        assert caller.get(f"/events?after={place}").status_code == 422
    assert caller.get(f"/events?after={'9' * 60}").json()["results"] == []


def test_tests_of_webhooks_are_no_events(caller, webhook):
    caller.post(f"/webhooks/{webhook.pk}/test")
    assert caller.get("/events").json()["results"] == []


def test_a_member_reads_events_and_has_no_webhooks():
    member = caller_for(User.objects.create_user("member"))
    assert member.get("/events").status_code == 200
    assert "lacks the scope webhooks:read" in member.get("/webhooks").json()["detail"]
