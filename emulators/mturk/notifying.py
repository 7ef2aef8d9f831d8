"""Tell requesters what happened, as MTurk does: as a hint, perhaps twice, late, in another order or never."""

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from itertools import count
from random import Random
from typing import Any
from urllib.parse import urlsplit

from emulators.mturk.faults.hiding import Hidden
from emulators.mturk.faults.plan import FaultPlan
from emulators.mturk.notifications import wanted_by
from emulators.mturk.rows import Happening
from emulators.mturk.sqs.errors import SqsError
from emulators.mturk.sqs.queues import Queues
from emulators.mturk.world import World

CUSTOMER = "A2EMULATEDREQUESTER"
WORKERS_NAMED_SINCE = "2014-08-15"
EVENT_FAULTS = ("repeat", "shuffle", "lose", "delay", "early")


def event_body(happening: Happening, *, version: str, document_id: str, customer_id: str) -> str:
    """Return the JSON of an event: ids that it has none of are left out, and older versions name no worker."""
    ids = {"HITId": happening.hit_id, "HITTypeId": happening.hit_type_id, "AssignmentId": happening.assignment_id}
    if version >= WORKERS_NAMED_SINCE:
        ids["WorkerId"] = happening.worker_id
    timestamp = f"{happening.at:%Y-%m-%dT%H:%M:%SZ}"
    event = {"EventType": happening.type, "EventTimestamp": timestamp} | {name: id for name, id in ids.items() if id}
    document = {"EventDocId": document_id, "EventDocVersion": version, "CustomerId": customer_id, "Events": [event]}
    return json.dumps(document)


class Notifier:
    """Watches a world and sends what somebody asked to be told to their queue, faults of kind "event" included."""

    def __init__(self, world: World, queues: Queues, plan: FaultPlan, hidden: Hidden) -> None:
        self._world = world
        self._queues = queues
        self._plan = plan
        self._hidden = hidden
        self._numbers = count(1)

    def __call__(self, happening: Happening) -> None:
        """Send one event, if it is wanted and no fault swallows it."""
        with self._world.looking() as state:
            notification = wanted_by(state, happening)
        if notification is None:
            return
        met = {fault.kind: fault.settings for fault in self._plan.happening(happening.type, *EVENT_FAULTS)}
        if "early" in met and happening.assignment_id:
            until = happening.at + timedelta(seconds=met["early"]["seconds"])
            self._hidden.hide(happening.assignment_id, until)
        if "lose" not in met:
            self._send(happening, notification, met)

    def _send(self, happening: Happening, notification: Mapping[str, Any], met: Mapping[str, Any]) -> None:
        queue = urlsplit(notification["Destination"]).path.rpartition("/")[2]
        body = event_body(
            happening,
            version=notification["Version"],
            document_id=self._document_id(),
            customer_id=CUSTOMER,
        )
        delay = timedelta(seconds=met["delay"]["seconds"] if "delay" in met else 0)
        with suppress(SqsError):  # a queue that is gone loses events, as it would there
            for _ in range(2 if "repeat" in met else 1):
                self._queues.send(queue, body, delay=delay, shuffle="shuffle" in met)

    def _document_id(self) -> str:
        return f"{Random(f'event {self._world.seed} {next(self._numbers)}').getrandbits(160):040x}"
