"""Prolific's events: genuine ones lead to a sync, once; nothing in them is believed."""

import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import Payment
from counterpart_emulators.prolific.courier import signature
from crowd.models import Hint
from crowd.sync import KEPT, purge_hints
from tests.crowd.prolific_rehearsal import published

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
