"""Assignments of which an event tells before anybody can read or decide them."""

from datetime import datetime
from threading import Lock


class Hidden:
    """Ids of assignments, and until when each is out of sight."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._until: dict[str, datetime] = {}

    def hide(self, assignment_id: str, until: datetime) -> None:
        with self._lock:
            self._until[assignment_id] = until

    def holds(self, assignment_id: str, now: datetime) -> bool:
        with self._lock:
            return now < self._until.get(assignment_id, now)
