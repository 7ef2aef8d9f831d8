"""Carries out the schedule: kills processes and cuts connections of one run, and of no other."""

from collections.abc import Callable

import psycopg2
import redis

from tests.chaos.processes import Site
from tests.chaos.schedule import Cut

SPARED = "chaos"  # the name that the crowd's and the checker's own connections give to PostgreSQL


class Killer:
    """``database`` and ``broker`` are URLs of the run's own databases of PostgreSQL and Redis; "" for none."""

    def __init__(self, site: Site, *, database: str = "", broker: str = "") -> None:
        self._site, self._database, self._broker = site, database, broker
        processes = site.processes
        self._ways: dict[str, Callable[[Cut], object]] = {
            "a web process": lambda cut: processes["web"].kill_child(cut.pick),
            "the whole site": lambda cut: processes["web"].kill(),
            "the worker": lambda cut: processes["worker"].kill(),
            "the clock": lambda cut: processes["clock"].kill(),
            "the emulator": lambda cut: processes["emulator"].kill(),
            "database connections": lambda cut: self._cut_database(),
            "broker connections": lambda cut: self._cut_broker(),
        }

    def strike(self, cut: Cut) -> None:
        self._ways[cut.kind](cut)

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
