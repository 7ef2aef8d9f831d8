"""One emulated marketplace behind one lock: whoever calls sees it settled up to the clock's instant."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from emulators.mturk import money, notifications, qualifying, workers, working
from emulators.mturk.clock import Clock
from emulators.mturk.errors import TurkError
from emulators.mturk.journal import Journal, unpack
from emulators.mturk.operations import OPERATIONS, changes_something
from emulators.mturk.rows import Happening
from emulators.mturk.settling import settle
from emulators.mturk.state import Reissue, State

Observer = Callable[[Happening], None]


def set_reissue(state: State, *, policy: Reissue) -> dict[str, Any]:
    """Say who is given the id of a returned assignment again."""
    state.reissue = policy
    return {}


# What people do besides calling the API; each is journalled under its name.
ACTS: dict[str, Callable[..., dict[str, Any]]] = {
    "register_worker": workers.register_worker,
    "accept": working.accept,
    "submit": working.submit,
    "return_assignment": working.return_assignment,
    "begin_test": qualifying.begin_test,
    "request_qualification": qualifying.request_qualification,
    "note": lambda state, *, what, about: {},  # a line in the journal, for those who read it
    "create_queue": notifications.create_queue,
    "set_balance": money.set_balance,
    "set_premium_fee": money.set_premium_fee,
    "set_reissue": set_reissue,
}


class World:
    """A marketplace with one requester. The same seed and the same calls give the same ids.

    ``observers`` are told of every Happening after the call that caused it, outside the lock. With a ``journal``
    file, the acts in it are done again first; ``balance`` is what the account holds when the world begins (dollars).
    Raises JournalError.
    """

    def __init__(
        self,
        *,
        seed: int = 0,
        sandbox: bool = False,
        balance: str = "10000.00",
        journal: Path | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.seed = seed
        self.clock = clock or Clock()
        self.observers: list[Observer] = []
        self.lock = threading.RLock()
        self.journal = Journal(journal)
        self._state = State(seed=seed, sandbox=sandbox)
        done = list(self.journal.begin({"seed": seed, "sandbox": sandbox}))
        for entry in done:
            self._replay(entry)
        if not done:
            self.act("set_balance", available=balance)

    @property
    def sandbox(self) -> bool:
        """Whether it behaves as the sandbox does, where money never runs out."""
        return self._state.sandbox

    def call(self, operation: str, params: dict[str, Any]) -> dict[str, Any]:
        """Do an operation of the Requester API whose parameters fit the model. Raises TurkError."""
        if operation not in OPERATIONS:
            raise TurkError(
                f"{operation} is not emulated; the emulator knows {len(OPERATIONS)} of the 39 operations.",
                code="ServiceFault",
                turk_code="NotEmulated",
                status=501,  # which no SDK takes for a passing trouble that goes away when it tries again
            )
        with self._settled() as state:
            result = OPERATIONS[operation](state, params)
            if changes_something(operation):
                self.journal.write(operation, state.now, params)
            return result

    def act(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Do what a person does besides calling the API. Raises Refusal."""
        with self._settled() as state:
            result = ACTS[name](state, **arguments)
            self.journal.write(name, state.now, arguments)
            return result

    @contextmanager
    def looking(self) -> Iterator[State]:
        """Lend the settled state to somebody who only reads it, and keeps nothing of it."""
        with self._settled() as state:
            yield state

    def settle(self) -> None:
        """Make every move that time has made due."""
        with self._settled():
            pass

    def move_clock(self, to: datetime | None = None, *, by: timedelta = timedelta(0), running: bool = True) -> datetime:
        """Move the clock to an instant, or by a duration, and let it run on or stop. Raises ClockError."""
        with self.lock:
            self.clock.set((to or self.clock.now()) + by, running=running)
            arguments = {"offset": self.clock.offset.total_seconds(), "stopped_at": self.clock.stopped_at}
            self.journal.write("clock", self.clock.now(), arguments)
        self.settle()
        return self.clock.now()

    def register_worker(self, worker_id: str | None = None, **profile: Any) -> str:
        """Register a worker, or change one; see ``workers.register_worker``. Returns the WorkerId."""
        return str(self.act("register_worker", worker_id=worker_id, **profile)["WorkerId"])

    def open_groups(self, worker_id: str) -> list[dict[str, Any]]:
        """Return the groups of HITs that a worker may see; see ``workers.open_groups``."""
        with self.looking() as state:
            return workers.open_groups(state, worker_id)

    def preview(self, hit_id: str, worker_id: str | None = None) -> dict[str, Any]:
        """Return a HIT as shown before it is accepted; see ``workers.preview``."""
        with self.looking() as state:
            return workers.preview(state, hit_id, worker_id)

    def work(self, assignment_id: str, worker_id: str) -> dict[str, Any]:
        """Return an assignment with its task, as its worker sees it; see ``workers.work``."""
        with self.looking() as state:
            return workers.work(state, assignment_id, worker_id)

    def dashboard(self, worker_id: str) -> dict[str, Any]:
        """Return what a worker did, earned and was told; see ``workers.dashboard``."""
        with self.looking() as state:
            return workers.dashboard(state, worker_id)

    def accept(self, hit_id: str, worker_id: str) -> dict[str, Any]:
        """Take a place of a HIT; see ``working.accept``."""
        return self.act("accept", hit_id=hit_id, worker_id=worker_id)

    def submit(
        self, assignment_id: str, worker_id: str, fields: dict[str, str], *, answer: str | None = None
    ) -> dict[str, Any]:
        """Hand in accepted work; see ``working.submit``."""
        return self.act("submit", assignment_id=assignment_id, worker_id=worker_id, fields=fields, answer=answer)

    def return_assignment(self, assignment_id: str, worker_id: str) -> dict[str, Any]:
        """Give accepted work back; see ``working.return_assignment``."""
        return self.act("return_assignment", assignment_id=assignment_id, worker_id=worker_id)

    def begin_test(self, type_id: str, worker_id: str) -> dict[str, Any]:
        """Start the time of a qualification test; see ``qualifying.begin_test``."""
        return self.act("begin_test", type_id=type_id, worker_id=worker_id)

    def request_qualification(
        self, type_id: str, worker_id: str, answers: dict[str, str | list[str]] | None = None
    ) -> dict[str, Any]:
        """Ask for a qualification; see ``qualifying.request_qualification``."""
        return self.act("request_qualification", type_id=type_id, worker_id=worker_id, answers=answers)

    def requestable(self, worker_id: str) -> list[dict[str, Any]]:
        """Return the qualifications that can be asked for; see ``qualifying.requestable``."""
        with self.looking() as state:
            return qualifying.requestable(state, worker_id)

    @contextmanager
    def _settled(self) -> Iterator[State]:
        """Hold the lock over a settled state; afterwards, tell the observers what happened."""
        happened: list[Happening] = []
        try:
            with self.lock:
                settle(self._state, max(self.clock.now(), self._state.now))
                try:
                    yield self._state
                finally:
                    happened, self._state.happenings = self._state.happenings, []
        finally:
            for happening in happened:
                for observer in list(self.observers):
                    observer(happening)

    def _replay(self, entry: dict[str, Any]) -> None:
        """Do again, at its instant, what a journal says was done."""
        name, arguments = entry["act"], unpack(entry["arguments"])
        if name == "clock":
            offset = timedelta(seconds=arguments["offset"])
            self.clock.restore(offset=offset, stopped_at=arguments["stopped_at"])
            return
        settle(self._state, datetime.fromisoformat(entry["at"]))
        if name in ACTS:
            ACTS[name](self._state, **arguments)
        else:
            OPERATIONS[name](self._state, arguments)
        self._state.happenings.clear()
