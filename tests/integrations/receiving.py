"""A receiver of notifications on a local port: what it answers is set, what it was sent is kept."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest
from django.db import transaction
from django.db.models import F

from core.web import public_network
from integrations import notifications
from integrations.models import Delivery, Webhook


@dataclass
class Receiver:
    """``mode``: a status to answer, or "silent" and "slow": no answer, and one that never ends its first header."""

    url: str = ""
    mode: int | str = 204
    sent: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    over: Event = field(default_factory=Event)

    @property
    def ids(self) -> list[str]:
        return [headers["webhook-id"] for headers, _ in self.sent]


@pytest.fixture
def receiver(monkeypatch) -> Iterator[Receiver]:
    """The receiver, as if its address were public."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.sent.append(({name.lower(): value for name, value in self.headers.items()}, body))
            if receiver.mode == "silent":
                receiver.over.wait(5)
            elif receiver.mode == "slow":
                while not receiver.over.wait(0.05):
                    self.wfile.write(b"x")
            else:
                self._answer(int(receiver.mode))

        def _answer(self, status: int) -> None:
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", receiver.url)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            """Print nothing."""

    monkeypatch.setattr(public_network, "is_public", lambda address: address == "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True).start()
        receiver.url = f"http://127.0.0.1:{server.server_port}/hook"
        yield receiver
        receiver.over.set()
        server.shutdown()


notify = transaction.atomic(notifications.notify)


def tell(webhook: Webhook, name: str = "zebra") -> Delivery:
    notify("round.closed", f"/rounds/{name}", id=name)
    return webhook.deliveries.latest("pk")


def pass_time(**time: float) -> None:
    """Let so much time go by."""
    passed = timedelta(**time)
    Delivery.objects.update(due_at=F("due_at") - passed)
    Webhook.objects.update(rests_until=F("rests_until") - passed, failing_since=F("failing_since") - passed)
    Webhook.objects.update(rotated_at=F("rotated_at") - passed)


def again(row):
    return type(row).objects.get(pk=row.pk)


def outcome(delivery: Delivery) -> tuple[str, int, int | None, str]:
    found = again(delivery)
    return found.state, found.attempts, found.status, found.error
