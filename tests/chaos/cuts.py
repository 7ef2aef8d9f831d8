"""What is killed and cut in one run, and when: the same for the same seed. Disk and database server are of the run."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import psycopg2
import redis

from tests.chaos.processes import Site

SPARED = "chaos"  # the name that the crowd's and the checker's own connections give to PostgreSQL
LASTS = 4  # seconds of a wrong clock or a full disk while the crowd goes on
LONGEST_WATCH = 10  # seconds that the killer waits for a call to the platform
DISK = "2g"
# How often each kind is drawn. A process takes seconds to come back, a connection none.
WEIGHTS = {
    "a web process": 5,
    "the whole site": 1,
    "the worker": 3,
    "the clock": 1,
    "the emulator": 2,
    "database connections": 5,
    "broker connections": 3,
    "the worker in an act of the platform": 2,
    "the database server": 1,
    "the site's clock": 1,
    "the disk": 1,
}
SERVICES = ("database connections", "broker connections", "the database server")  # SQLite and its broker are files
SHORTEST, LONGEST = 0.3, 3.5  # seconds between two


@dataclass(frozen=True)
class Cut:
    """``kind`` is killed ``pause`` seconds after the one before; ``pick`` (0 to 1) chooses among several processes."""

    number: int
    kind: str
    pause: float
    pick: float


def schedule(*, kills: int, seed: int, without: Collection[str] = ()) -> list[Cut]:
    """Draw ``kills`` cuts, of all kinds but those ``without`` which the machine or the engine can do."""
    rng = Random(seed)
    weights = {kind: weight for kind, weight in WEIGHTS.items() if kind not in without}
    kinds = rng.choices([*weights], [*weights.values()], k=kills)
    return [Cut(n, kind, rng.uniform(SHORTEST, LONGEST), rng.random()) for n, kind in enumerate(kinds, 1)]


class Machine:
    """``disk``: a folder on a disk that the run may fill; empty without the right to mount one. ``server``: pgserver's,
    for PostgreSQL."""

    def __init__(self, disk: str) -> None:
        self.disk = disk
        self.server: Any = None

    def restart_database(self, *, at_once: bool) -> None:
        """Stop the server, ``at_once`` as a crash does or else as an operator does, and start it again."""
        pid = self.server.get_pid()
        os.kill(pid, signal.SIGQUIT if at_once else signal.SIGINT)
        while Path(f"/proc/{pid}").exists():
            time.sleep(0.05)
        self.server.ensure_postgres_running()


@contextmanager
def own_disk(folder: Path) -> Iterator[str]:
    """Mount a disk in memory on the folder. Yields an empty name where that is not allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=700", "chaos", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode:
        yield ""
        return
    try:
        yield str(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


class Killer:
    """``database`` and ``broker`` are URLs of the run's own databases of PostgreSQL and Redis; "" for none.
    ``is_calling`` says whether a worker is making a call to the platform just now."""

    def __init__(
        self, site: Site, machine: Machine, *, is_calling: Callable[[], bool], database: str = "", broker: str = ""
    ) -> None:
        self._site, self._machine, self._is_calling = site, machine, is_calling
        self._database, self._broker = database, broker
        processes = site.processes
        self._ways: dict[str, Callable[[Cut], object]] = {
            "a web process": lambda cut: processes["web"].kill_child(cut.pick),
            "the whole site": lambda cut: processes["web"].kill(),
            "the worker": lambda cut: processes["worker"].kill(),
            "the clock": lambda cut: processes["clock"].kill(),
            "the emulator": lambda cut: processes["emulator"].kill(),
            "database connections": lambda cut: self._cut_database(),
            "broker connections": lambda cut: self._cut_broker(),
            "the worker in an act of the platform": lambda cut: self._kill_in_an_act(),
            "the database server": lambda cut: machine.restart_database(at_once=cut.pick < 0.5),
            "the site's clock": lambda cut: self._set_clock(hours=-2 if cut.pick < 0.5 else 2),
            "the disk": lambda cut: self._fill_disk(),
        }

    @property
    def unable(self) -> set[str]:
        """The kinds of cuts that this engine or this machine does not allow."""
        kinds = set() if self._database else set(SERVICES)
        if not self._machine.disk:
            kinds.add("the disk")
        return kinds

    def strike(self, cut: Cut) -> None:
        self._ways[cut.kind](cut)

    def _kill_in_an_act(self) -> None:
        """Kill the worker while the platform may be acting on its call; after a while without a call, at any moment."""
        end = time.monotonic() + LONGEST_WATCH
        while not self._is_calling() and time.monotonic() < end:
            time.sleep(0.002)
        self._site.processes["worker"].kill()

    def _set_clock(self, *, hours: int) -> None:
        """Start the site with a wrong clock, let the crowd go on, and start it again with the right one."""
        web = self._site.processes["web"]
        web.kill(CLOCK_HOURS=str(hours))
        self._site.wait()
        time.sleep(LASTS)
        web.kill()

    def _fill_disk(self) -> None:
        filler = Path(self._machine.disk) / "filler"
        try:
            with filler.open("wb", buffering=0) as file:
                while file.write(bytes(1 << 20)):
                    pass
        except OSError:
            time.sleep(LASTS)
        finally:
            filler.unlink(missing_ok=True)

    def _cut_database(self) -> None:
        with psycopg2.connect(self._database, application_name=SPARED) as server:
            server.cursor().execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND application_name <> %s AND pid <> pg_backend_pid()",
                [SPARED],
            )

    def _cut_broker(self) -> None:
        with redis.from_url(self._broker) as server:
            number = str(server.connection_pool.connection_kwargs.get("db", 0))
            own = server.client_id()
            for client in server.client_list():
                if client["db"] == number and int(client["id"]) != own:
                    server.client_kill_filter(_id=client["id"])
