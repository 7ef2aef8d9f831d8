"""Sends the events that are due to their subscribers, in a thread of its own; only to this machine."""

import base64
import hashlib
import hmac
import http.client
import logging
import threading
from urllib.parse import urlsplit

from counterpart_emulators.faults import FaultPlan
from counterpart_emulators.prolific.hooks import due_events
from counterpart_emulators.prolific.state import Event
from counterpart_emulators.prolific.world import World

log = logging.getLogger(__name__)

POLL = 0.05  # seconds between two looks
PATIENCE = 5  # seconds for an answer


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return the signature of a hook: base64 of the HMAC-SHA256 of timestamp and raw body."""
    return base64.b64encode(hmac.digest(secret.encode(), timestamp.encode() + body, hashlib.sha256)).decode()


class Courier:
    """Sends events until it is stopped. Faults name this operation: deliver."""

    def __init__(self, world: World, plan: FaultPlan) -> None:
        self._world = world
        self._plan = plan
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="courier")

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(POLL):
            for event, target in self._world.look(due_events):
                if self._stopped.is_set():
                    return
                self._deliver(event, target)

    def _deliver(self, event: Event, target: str) -> None:
        met = {fault.kind: fault for fault in self._plan.happening("deliver", "duplicate", "lost", "hold", "signature")}
        if "hold" in met:
            self._world.act("put_off", event_id=event.id, seconds=met["hold"].settings["seconds"])
            return
        form = met["signature"].settings["form"] if "signature" in met else ""
        received = "lost" in met  # Prolific believes to have sent it, so it is not retried
        if "lost" not in met:
            for _ in range(2 if "duplicate" in met else 1):
                received = self._send(event, target, form)
        self._world.act("record_attempt", event_id=event.id, received=received)

    def _send(self, event: Event, target: str, form: str) -> bool:
        """Send an event and return whether it was received."""
        with self._world.looking() as state:
            secrets = [each["value"] for each in state.secrets]
            timestamp = str(int(state.now.timestamp()))
        body = event.body.encode()
        secret = secrets[-2] if form == "old secret" and len(secrets) > 1 else secrets[-1]
        signed = signature(secret, timestamp, b"other" if form == "bad" else body)
        headers = {
            "Content-Type": "application/json",
            "X-Event-ID": event.id,
            "X-Prolific-Request-Timestamp": timestamp,
            "X-Prolific-Request-Signature": signed,
        }
        parts = urlsplit(target)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=PATIENCE)
        try:
            connection.request("POST", f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}", body, headers)
            return 200 <= connection.getresponse().status < 300
        except (OSError, http.client.HTTPException) as error:
            log.debug("%s was not received: %s", event.id, error)
            return False
        finally:
            connection.close()
