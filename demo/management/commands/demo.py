"""demo: run the walkthrough and serve the site. `make demo` calls this."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser, OutputWrapper

from core.errors import CounterpartError
from core.progress import TerminalBar, silent
from crowd.posting.publication import join_link
from demo.local_site import free_port, serve
from demo.savings import savings
from demo.walkthrough import (
    JUDGED,
    LOGIN,
    OPEN,
    REVIEWED,
    STAGES,
    VERSION,
    Figures,
    demonstrate,
    make_login,
    refuse_other_databases,
    said_and_true,
)
from hits.models import Round


def table(figures: Figures) -> str:
    """Format the figures as a small table."""
    lines = [
        f"{figures.judged:,} pairs judged; {VERSION} holds {figures.positives:,} matches. "
        "Against the whole truth, mean over the queries:",
        f"{'':<30}{'precision':>10}{'recall':>8}",
    ]
    for direction, original in figures.original.items():
        released = figures.released[direction]
        lines += [
            f"{direction.label:<18}{'original':<12}{original.precision:>10.3f}{original.recall:>8.3f}",
            f"{'':<18}{VERSION:<12}{released.precision:>10.3f}{released.recall:>8.3f}"
            f"  ×{released.recall / original.recall:.2f}",
        ]
    return "\n".join(lines)


class Stages:
    """A line a stage, as the demo takes minutes: what it does and, in a log, which shows no bar, how long it took."""

    def __init__(self, out: OutputWrapper, *, bar: bool) -> None:
        self._out = out
        self._bar = bar
        self._number = 0

    @contextmanager
    def __call__(self, what: str) -> Iterator[None]:
        self._number += 1
        began = perf_counter()
        self._out.write(f"{self._number} of {STAGES}  {what} …", ending="\n" if self._bar else " ")
        self._out.flush()
        yield
        if not self._bar:
            self._out.write(f"{perf_counter() - began:.0f} s")


class Command(BaseCommand):
    step = "site"
    help = "Run a whole round on a drawn collection, print the results, serve the site."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--no-serve", action="store_true", help="stop before serving the site")

    def handle(self, *args: Any, **options: Any) -> None:
        bar = TerminalBar()
        try:
            refuse_other_databases()
            call_command("migrate", verbosity=0, interactive=False)
            seen = sys.stderr.isatty()
            figures = demonstrate(progress=bar if seen else silent, stage=Stages(self.stdout, bar=seen))
        except CounterpartError as error:
            raise CommandError(str(error)) from error
        finally:
            bar.close()
        self.stdout.write(table(figures))
        self.stdout.write("\n".join(["", *said_and_true()]))
        self.stdout.write(f"\nverify {VERSION}: rebuilt from its judgments and compared with its files")
        call_command("verify", VERSION, stdout=self.stdout)
        self.stdout.write(f"\ndiff {VERSION} {REVIEWED}: a reviewer corrected what was judged wrong")
        call_command("diff", VERSION, REVIEWED, stdout=self.stdout)
        self.stdout.write(f"\n{savings(Round.objects.get(name=JUDGED))}")
        if options["no_serve"]:
            self.stdout.write("\nTo look at it, run the demo without --no-serve: it serves what is there.")
        else:
            self._serve()

    def _serve(self) -> None:
        port = free_port()
        site = f"http://127.0.0.1:{port}"
        path = join_link(Round.objects.get(name=OPEN)).split("/judge/", 1)[1]
        self.stdout.write(f"\nJudge a HIT   {site}/judge/{path}")
        self.stdout.write(f"Console       {site}/   user {LOGIN}, password {make_login()}")
        self.stdout.write("Stop          Ctrl-C\n")
        self.stdout.flush()
        serve(port, os.environ.get("SITE_URL") or site)
