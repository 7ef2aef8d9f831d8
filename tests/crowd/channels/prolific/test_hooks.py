"""Prolific's events: genuine ones lead to a sync, once; nothing in them is believed."""

import json
from base64 import b64encode
from collections import Counter
from datetime import timedelta
from hashlib import sha256
from hmac import digest
from random import Random

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import Assignment, Payment
from counterpart_emulators.prolific.courier import signature
from crowd.models import Hint
from crowd.visits.hints import KEPT, purge_hints
from tests.crowd.prolific_rehearsal import Rehearsal, check_books, play_all, published, sync

pytestmark = pytest.mark.slow


HOOK = "/judge/at/prolific/emulator/hook/"
BODY = b'{"event_type":"submission.status.change","resource_id":"x","participant_id":"y","status":"APPROVED"}'


@pytest.fixture(autouse=True)
def secrets(monkeypatch):
    monkeypatch.setenv("PROLIFIC_HOOK_SECRETS", "new,old")
    monkeypatch.setenv("PROLIFIC_ENVIRONMENTS", "emulator")


def send(client, body=BODY, *, secret="new", event="E1", signed=None, time="1795000000"):
    headers = {
        "X-Event-ID": event,
        "X-Prolific-Request-Timestamp": time,
        "X-Prolific-Request-Signature": signature(secret, time, signed or body),
    }
    return client.post(HOOK, body, content_type="application/json", headers=headers)


def test_the_signature_is_of_timestamp_and_raw_body():
    by_hand = b64encode(digest(b"new", b"1795000000" + BODY, sha256)).decode()
    assert signature("new", "1795000000", BODY) == by_hand


@pytest.mark.parametrize("secret", ["new", "old"])
def test_an_event_of_a_known_secret_is_taken(client, db, secret):
    assert send(client, secret=secret).status_code == 200
    assert Hint.objects.get().external_id == "E1"


@pytest.mark.parametrize(
    "changes",
    [
        {"secret": "other"},
        {"signed": json.dumps(json.loads(BODY)).encode()},
        {"signed": BODY + b" "},
        {"event": ""},
    ],
)
def test_an_event_that_is_not_signed_by_us_is_refused(client, db, changes):
    assert send(client, **changes).status_code == 403
    assert not Hint.objects.exists()


def test_without_a_secret_no_event_is_taken(client, db, monkeypatch):
    monkeypatch.setenv("PROLIFIC_HOOK_SECRETS", "")
    assert send(client, secret="").status_code == 403


@pytest.mark.parametrize("channel", ["mturk", "browser", "nowhere"])
def test_other_channels_take_no_events(client, db, channel):
    assert client.post(HOOK.replace("prolific", channel)).status_code == 404


def test_events_of_unknown_things_are_taken_and_change_nothing(client, db):
    assert send(client, b'{"event_type":"new","resource_id":"z"}').status_code == 200


def test_an_event_leads_to_a_sync_and_its_repetition_to_none(client, rehearsal, commit, monkeypatch):
    published(hits=1, commit=commit)
    with commit(execute=True):
        rehearsal.work()
    with commit() as first:
        assert send(client).status_code == 200
    with commit() as again:
        assert send(client).status_code == 200
    assert (len(first), len(again)) == (1, 0)


def test_what_an_event_claims_is_read_from_the_list(client, rehearsal, commit):
    published(hits=1, commit=commit)
    with commit(execute=True):
        submission, person, sheet = rehearsal.open()
        rehearsal.answer(submission, person, sheet)
    lie = json.dumps({"event_type": "submission.status.change", "resource_id": submission, "status": "APPROVED"})
    with commit(execute=True):
        send(client, lie.encode())
    assert Payment.objects.get().state == "owed"


def test_old_hints_are_deleted(db):
    Hint.objects.create(channel="prolific", environment="emulator", external_id="E1", at=timezone.now() - KEPT * 2)
    Hint.objects.create(channel="prolific", environment="emulator", external_id="E2", at=timezone.now() - timedelta(1))
    assert purge_hints() == 1


def test_subscriptions_are_confirmed_and_replace_earlier_ones(rehearsal, capsys):
    call_command("subscribe_hooks")
    call_command("subscribe_hooks")
    with rehearsal.world.looking() as state:
        hooks = list(state.subscriptions.values())
        newest = state.secrets[-1]["value"]
    assert sorted(hook.event_type for hook in hooks) == ["study.status.change", "submission.status.change"]
    assert all(hook.enabled for hook in hooks)
    assert newest in capsys.readouterr().out


@pytest.mark.parametrize(
    ("operation", "kind"),
    [("create_secret", "drop"), ("create_subscription", "reset"), ("confirm_subscription", "drop")],
)
def test_a_subscription_that_a_lost_reply_left_unconfirmed_is_made_again(rehearsal, operation, kind):
    rehearsal.fault(kind=kind, operation=operation, nth=2 if operation != "create_secret" else 1)
    with pytest.raises(CommandError, match="No events are sent"):
        call_command("subscribe_hooks")
    call_command("subscribe_hooks")
    hooks = rehearsal.world.look(lambda state: [*state.subscriptions.values()])
    assert sorted(hook.event_type for hook in hooks) == ["study.status.change", "submission.status.change"]
    assert all(hook.enabled for hook in hooks)


def test_a_subscription_that_prolific_has_disabled_is_made_again(rehearsal):
    call_command("subscribe_hooks")
    with rehearsal.world.looking() as state:
        for hook in state.subscriptions.values():
            hook.enabled = False
    call_command("subscribe_hooks")
    assert rehearsal.world.look(lambda state: [hook.enabled for hook in state.subscriptions.values()]) == [True, True]


# What becomes of a round does not depend on how its events arrive.


def twice_in_any_order(events: list) -> list:
    return Random(3).sample(events * 2, len(events) * 2)


def every_third(events: list) -> list:
    return events[::3]


@pytest.mark.parametrize("arrive", [twice_in_any_order, every_third])
def test_events_that_come_twice_in_any_order_or_not_at_all_change_nothing_of_the_end(
    client, rehearsal, commit, settings, monkeypatch, arrive
):
    settings.SITE_URL = "http://127.0.0.1:9"  # nobody listens: the events are delivered below
    made = published(hits=4, commit=commit)
    call_command("subscribe_hooks")
    with rehearsal.world.looking() as state:
        monkeypatch.setenv("PROLIFIC_HOOK_SECRETS", state.secrets[-1]["value"])
    play_all(rehearsal, commit)
    for event in arrive(events_of(rehearsal)):
        with commit(execute=True):
            assert send(client, event.body.encode(), secret=secret_of(rehearsal), event=event.id).status_code == 200
    for _ in range(2):
        sync(made, commit)
    assert outcome() == {
        ("accepted", "approved", 4, "paid"): 1,
        ("flagged", "expired", 4, "withdrawn"): 1,
        ("returned", "returned", 0, ""): 1,
        ("flagged", "submitted", 0, ""): 1,
    }
    assert (rehearsal.study().places, rehearsal.statuses()) == (
        4,
        ["APPROVED", "AWAITING REVIEW", "RETURNED", "TIMED-OUT"],
    )
    check_books(made, rehearsal)


def events_of(there: Rehearsal) -> list:
    with there.world.looking() as state:
        return list(state.events.values())


def secret_of(there: Rehearsal) -> str:
    with there.world.looking() as state:
        return state.secrets[-1]["value"]


def outcome() -> Counter:
    """Count the work by its state here and there, its answers, and its payment."""
    return Counter(
        (one.state, one.visit.state, one.judgments.count(), "".join(one.payments.values_list("state", flat=True)))
        for one in Assignment.objects.all()
    )
