"""Webhooks: subscriptions, signatures, retries, and what can go wrong on the way."""

import base64
import hashlib
import hmac
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.conftest import eventually
from tests.prolific.conftest import refusal


@pytest.fixture
def subscriber():
    """A server that keeps what it is sent as (headers, body), and answers with its ``status``."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):  # noqa: N802 - named by the base class
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.server.received.append((dict(self.headers), body))
            self.send_response(self.server.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.received, server.status = [], 200
    server.url = f"http://127.0.0.1:{server.server_port}/hooks/?of=prolific"
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def subscribe(api, world, subscriber):
    """Subscribe to a type and confirm it; returns the subscription's id and the secret."""

    def done(event_type="submission.status.change", *, confirmed=True):
        workspace_id = world.look(lambda state: state.workspace_id)
        secret = api.post("hooks/secrets/", json={"workspace_id": workspace_id}).json()["value"]
        sent = {"workspace_id": workspace_id, "event_type": event_type, "target_url": subscriber.url}
        answer = api.post("hooks/subscriptions/", json=sent)
        hook_id = answer.json()["id"]
        if confirmed:
            api.post(f"hooks/subscriptions/{hook_id}/", json={"secret": answer.headers["X-Hook-Secret"]})
        return hook_id, secret

    return done


def signed(secret, headers, body):
    made = hmac.new(secret.encode(), headers["X-Prolific-Request-Timestamp"].encode() + body, hashlib.sha256)
    return base64.b64encode(made.digest()).decode() == headers["X-Prolific-Request-Signature"]


def statuses(subscriber):
    return [json.loads(body)["status"] for _, body in subscriber.received]


def states(world):
    return world.look(lambda state: [each.status for each in state.events.values()])


def test_a_change_is_sent_signed_over_the_raw_body(api, subscriber, subscribe, publish, finish):
    _, secret = subscribe()
    submission_id, participant_id = finish(publish())
    assert eventually(lambda: len(subscriber.received) == 3)
    assert statuses(subscriber) == ["RESERVED", "ACTIVE", "AWAITING REVIEW"]
    assert all(signed(secret, headers, body) for headers, body in subscriber.received)
    assert len({headers["X-Event-ID"] for headers, _ in subscriber.received}) == 3
    _, body = subscriber.received[0]
    assert json.loads(body) == {
        "event_type": "submission.status.change",
        "resource_id": submission_id,
        "participant_id": participant_id,
        "status": "RESERVED",
    }
    assert b": " not in body


def test_studies_announce_their_status_and_progress(subscriber, subscribe, publish, take):
    subscribe("study.status.change"), subscribe("study.progress.change")
    study_id = publish()
    take(study_id)
    assert eventually(lambda: len(subscriber.received) == 2)
    first, second = (json.loads(body) for _, body in subscriber.received)
    assert first == {"event_type": "study.status.change", "resource_id": study_id, "status": "ACTIVE"}
    assert (second["places_taken"], second["total_available_places"]) == (1, 2)


def test_nothing_is_queued_before_the_subscription_is_confirmed(api, world, subscribe, publish):
    hook_id, _ = subscribe("study.status.change", confirmed=False)
    publish()
    assert states(world) == []
    assert list(refusal(api.post(f"hooks/subscriptions/{hook_id}/", json={"secret": "other"}))) == ["secret"]
    assert list(refusal(api.patch(f"hooks/subscriptions/{hook_id}/", json={"is_enabled": True}))) == ["is_enabled"]


def test_a_subscription_needs_a_secret_and_an_address_on_this_machine(api, world, subscribe, subscriber):
    workspace_id = world.look(lambda state: state.workspace_id)
    sent = {"workspace_id": workspace_id, "event_type": "study.status.change", "target_url": subscriber.url}
    assert "secret" in refusal(api.post("hooks/subscriptions/", json=sent))
    subscribe()
    for url in ("https://example.org/hooks", "file:///etc/passwd", "http://10.0.0.1/"):
        assert list(refusal(api.post("hooks/subscriptions/", json=sent | {"target_url": url}))) == ["target_url"]
    assert list(refusal(api.post("hooks/subscriptions/", json=sent | {"event_type": "x"}))) == ["event_type"]


def test_what_was_not_received_is_sent_again_with_the_same_id(world, subscriber, subscribe, publish, pass_time):
    subscribe("study.status.change")
    subscriber.status = 500
    publish()
    # Received is not yet recorded: only then does the emulator know that it has to send again.
    assert eventually(lambda: world.look(lambda state: [each.attempts for each in state.events.values()]) == [1])
    assert (len(subscriber.received), states(world)) == (1, ["PENDING"])
    subscriber.status = 200
    pass_time(minutes=1)
    assert eventually(lambda: states(world) == ["SUCCEEDED"])
    assert len({headers["X-Event-ID"] for headers, _ in subscriber.received}) == 1


def attempts(world, event_id, count):
    """Record attempts that failed, each when it was due."""
    for _ in range(count):
        world.act("record_attempt", event_id=event_id, received=False)


def test_it_is_given_up_after_12_attempts(world, subscribe, publish, upset):
    subscribe("study.status.change")
    upset("hold", "deliver", seconds=86_400)
    publish()
    [event_id] = world.look(lambda state: list(state.events))
    attempts(world, event_id, 11)
    assert states(world) == ["PENDING"]
    attempts(world, event_id, 1)
    assert states(world) == ["FAILED"]


def test_a_subscription_is_disabled_after_five_days_of_failures(api, world, subscribe, publish, upset, pass_time):
    hook_id, _ = subscribe("study.status.change")
    upset("hold", "deliver", seconds=30 * 86_400)
    publish()
    [event_id] = world.look(lambda state: list(state.events))
    attempts(world, event_id, 1)
    world.act("put_off", event_id=event_id, seconds=30 * 86_400)
    pass_time(days=5)
    attempts(world, event_id, 1)
    [disabled] = api.get("hooks/subscriptions/", params={"is_enabled": "false"}).json()["results"]
    assert (disabled["id"], disabled["is_enabled"]) == (hook_id, False)
    assert api.patch(f"hooks/subscriptions/{hook_id}/", json={"is_enabled": True}).json()["is_enabled"] is True


def test_a_hook_can_come_twice(subscriber, subscribe, publish, upset):
    subscribe("study.status.change")
    upset("duplicate", "deliver")
    publish()
    assert eventually(lambda: len(subscriber.received) == 2)
    assert len({headers["X-Event-ID"] for headers, _ in subscriber.received}) == 1


def test_a_hook_can_be_lost_for_good(world, subscriber, subscribe, publish, upset):
    subscribe("study.status.change")
    upset("lost", "deliver")
    publish()
    assert eventually(lambda: states(world) == ["SUCCEEDED"])
    assert subscriber.received == []


def test_hooks_can_come_in_another_order(subscriber, subscribe, publish, finish, upset, pass_time):
    subscribe()
    upset("hold", "deliver", nth=1, seconds=60)
    finish(publish())
    assert eventually(lambda: len(subscriber.received) == 2)
    pass_time(seconds=60)
    assert eventually(lambda: statuses(subscriber) == ["ACTIVE", "AWAITING REVIEW", "RESERVED"])


@pytest.mark.slow
@pytest.mark.parametrize("form", ["bad", "old secret"])
def test_a_signature_can_be_wrong(subscriber, subscribe, publish, upset, form):
    _, old = subscribe("study.progress.change")
    _, secret = subscribe("study.status.change")
    upset("signature", "deliver", form=form)
    publish()
    assert eventually(lambda: bool(subscriber.received))
    [(headers, body)] = subscriber.received
    assert not signed(secret, headers, body)
    assert signed(old, headers, body) == (form == "old secret")
