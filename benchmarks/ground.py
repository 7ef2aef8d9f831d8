"""What benchmarks share: a fresh database of their own, and a clock for named steps."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


@contextmanager
def fresh_house() -> Iterator[None]:
    """Set Django up on an empty database: SQLite in a temporary folder, or a new one on the server of DATABASE_URL."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["VAR_DIR"] = folder
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        import django

        django.setup()
        from django.core.management import call_command
        from django.db import connection
        from django.test.utils import setup_databases, teardown_databases

        if connection.vendor == "sqlite":
            call_command("migrate", verbosity=0)
            yield
            return
        made = setup_databases(verbosity=0, interactive=False)
        try:
            yield
        finally:
            teardown_databases(made, verbosity=0)


class Stopwatch:
    """Seconds of named steps, printed as they end; a step taken again adds up."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        begun = perf_counter()
        yield
        took = perf_counter() - begun
        self.seconds[name] = self.seconds.get(name, 0) + took
        print(f"{took:8.2f} s  {name}", flush=True)
