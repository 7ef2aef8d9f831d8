"""demo: run the walkthrough and serve the site. `make demo` calls this."""

import os
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.errors import CounterpartError
from core.progress import TerminalBar
from crowd.publication import join_link
from demo.local_site import free_port, serve
from demo.walkthrough import (
    LOGIN,
    OPEN,
    REVIEWED,
    VERSION,
    Figures,
    demonstrate,
    make_login,
    refuse_other_databases,
)
from hits.models import Round


def table(figures: Figures) -> str:
    """Format the figures as a small table."""
    lines = [
        f"{figures.judged:,} pairs judged; {VERSION} holds {figures.positives:,} matches. Against the whole truth:",
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


class Command(BaseCommand):
    help = "Run a complete round on the drawn demo collection, print its results, and serve the site."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--no-serve", action="store_true", help="stop before serving the site")

    def handle(self, *args: Any, **options: Any) -> None:
        progress = TerminalBar()
        try:
            refuse_other_databases()
            call_command("migrate", verbosity=0, interactive=False)
            figures = demonstrate(progress=progress)
        except CounterpartError as error:
            raise CommandError(str(error)) from error
        finally:
            progress.close()
        self.stdout.write(table(figures))
        self.stdout.write(f"\nverify {VERSION}: rebuilt from its judgments and compared with its files")
        call_command("verify", VERSION, stdout=self.stdout)
        self.stdout.write(f"\ndiff {VERSION} {REVIEWED}: a reviewer corrected what was judged wrong")
        call_command("diff", VERSION, REVIEWED, stdout=self.stdout)
        if not options["no_serve"]:
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
