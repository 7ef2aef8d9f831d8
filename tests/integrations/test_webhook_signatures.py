"""Signatures as others verify them, and the receiver of the guide."""

import re
from http.server import HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from standardwebhooks import Webhook as Verifier
from standardwebhooks import WebhookVerificationError

from integrations import notifications
from integrations.deliveries import deliver
from integrations.models import Webhook
from integrations.webhooks import renew_secret, secret_of
from tests.integrations.receiving import Receiver, again, outcome, pass_time, tell

pytestmark = pytest.mark.django_db


def verified(receiver: Receiver, secret: str) -> bool:
    headers, body = receiver.sent[-1]
    try:
        Verifier(secret).verify(body, headers)
    except WebhookVerificationError:
        return False
    return True


def test_another_library_verifies_the_signature_and_refuses_a_changed_body(webhook, delivery, receiver):
    deliver(delivery.pk)
    secret = secret_of(webhook)
    assert verified(receiver, secret)
    headers, body = receiver.sent.pop()
    receiver.sent.append((headers, body.replace(b"zebra", b"horse")))
    assert not verified(receiver, secret)


def test_after_a_new_secret_the_old_one_signs_for_a_day(webhook, receiver, owner):
    old = secret_of(webhook)
    assert renew_secret(webhook, by=owner)
    assert not renew_secret(webhook, by=owner)  # by a page that was opened before
    new = secret_of(again(webhook))
    assert old != new
    deliver(tell(webhook).pk)
    assert verified(receiver, old)
    assert verified(receiver, new)
    pass_time(hours=25)
    deliver(tell(webhook).pk)
    assert not verified(receiver, old)
    assert verified(receiver, new)


def test_after_a_change_of_the_sites_key_the_secret_that_a_receiver_has_still_verifies(webhook, receiver, settings):
    old = secret_of(webhook)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another key of the site, as long as the first"
    deliver(tell(webhook).pk)
    assert verified(receiver, old)
    assert verified(receiver, secret_of(webhook))


def test_webhooks_have_secrets_of_their_own_and_none_is_stored(webhook, owner):
    other = Webhook.objects.create(owner=owner, url=webhook.url, types=["round.closed"])
    assert secret_of(webhook) != secret_of(other)
    assert secret_of(webhook).removeprefix("whsec_") not in repr(Webhook.objects.values())


def test_the_receiver_of_the_guide_takes_what_is_ours_and_refuses_the_rest(webhook, delivery, receiver, monkeypatch):
    guide = (Path(__file__).parents[2] / "docs/api.md").read_text()
    (source,) = re.findall(
        r"^```python\n(import os\n.*?class Receiver.*?)^```$", guide.split("## Webhooks")[1], re.M | re.S
    )
    names: dict[str, Any] = {}
    exec(compile(source, "docs/api.md", "exec"), names)  # noqa: S102
    quiet = type("Quiet", (names["Receiver"],), {"log_message": lambda *_: None})
    with HTTPServer(("127.0.0.1", 0), quiet) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True).start()
        Webhook.objects.update(url=f"http://127.0.0.1:{server.server_port}/")
        for secret, status in ((secret_of(webhook), 204), ("whsec_" + "A" * 43 + "=", 401)):
            monkeypatch.setenv("SECRET", secret)
            answer = tell(webhook)
            deliver(answer.pk)
            assert outcome(answer)[2] == status
        server.shutdown()


def test_the_guide_lists_every_type():
    guide = (Path(__file__).parents[2] / "docs/api.md").read_text()
    assert re.findall(r"^\| `(\w+\.\w+)` \|", guide, re.M) == list(notifications.TYPES)
