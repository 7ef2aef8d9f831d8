"""A process that is killed after a step: a transaction that ends, or a call that has changed something on a platform.

A kill between two steps leaves what the step before it left. Steps in one place, such as the payments of several HITs,
are one act done again: only the first of them is killed at.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

import pytest
from botocore.client import BaseClient
from django.db import connection
from django.db.transaction import Atomic

from counterpart_emulators.market_server import MarketServer
from crowd.channels.prolific.client import Client
from tests.crowd.platform import taken_back_there
from tests.transactions import taken_back

Act = Callable[[], object]


class Killed(BaseException):
    """The process is gone: nothing may catch this."""


@dataclass
class Killer:
    """Kills once, after the first step whose place is not among ``places`` yet: ``killed_at``. ``only`` is a part of
    the place."""

    places: set[str]
    only: str = ""
    killed_at: str = ""
    call: str = "no call"  # the last one that was made

    def do(self, act: Act) -> bool:
        """Do ``act``; whether it was killed."""
        with pytest.MonkeyPatch.context() as patch:
            self._watch_transactions(patch)
            self._watch_mturk(patch)
            self._watch_prolific(patch)
            try:
                act()
            except Killed:
                return True
        return False

    def _watch_transactions(self, patch: pytest.MonkeyPatch) -> None:
        end = Atomic.__exit__

        def ending(block: Atomic, kind: type | None, error: object, trace: object) -> None:
            end(block, kind, error, trace)
            if kind is None and all(outer._from_testcase for outer in connection.atomic_blocks):
                self._step(f"{self.call}, then {opener_of(sys._getframe(1))}")

        patch.setattr(Atomic, "__exit__", ending)

    def _watch_mturk(self, patch: pytest.MonkeyPatch) -> None:
        ask = BaseClient._make_api_call

        def asking(client: BaseClient, operation: str, params: dict[str, Any]) -> object:
            answer = ask(client, operation, params)
            if not operation.startswith(("Get", "List")):
                self._called(operation)
            return answer

        patch.setattr(BaseClient, "_make_api_call", asking)

    def _watch_prolific(self, patch: pytest.MonkeyPatch) -> None:
        send = Client._send

        def sending(client: Client, method: str, path: str, **options: Any) -> object:
            reply = send(client, method, path, **options)
            if method != "GET":
                action = (options.get("json") or {}).get("action", "")
                self._called(f"{method} {re.sub('[0-9a-f]{24}', 'ID', path)} {action}".strip())
            return reply

        patch.setattr(Client, "_send", sending)

    def _called(self, call: str) -> None:
        self.call = call
        self._step(call)

    def _step(self, place: str) -> None:
        if self.killed_at or place in self.places or self.only not in place:
            return
        self.killed_at = place
        self.places.add(place)
        connection.run_on_commit.clear()
        raise Killed


def opener_of(frame: FrameType) -> str:
    """The function whose transaction ends in this frame: of a decorator, the function that it decorates."""
    function = frame.f_locals.get("func")
    return function.__qualname__ if function else f"{frame.f_code.co_qualname}, line {frame.f_lineno}"


def kill_everywhere(emulator: MarketServer, act: Callable[[], object], go_on: Callable[[str], None]) -> set[str]:
    """Kill ``act`` after one step after the other, each time with the database and the emulator as they are now, and
    ``go_on`` from the place; return the places."""
    places: set[str] = set()
    while True:
        killer = Killer(places)
        with taken_back(), taken_back_there(emulator):
            killer.do(act)
            if not killer.killed_at:
                return places
            go_on(killer.killed_at)
