"""What every Counterpart command shares: bars, one-line errors, --json."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, OperationalError, ProgrammingError

from core.errors import CounterpartError
from core.progress import TerminalBar


class ActCommand(BaseCommand):
    """A command that parses, calls one act and prints what it returned.

    A subclass writes ``act(progress, **options)``, which returns the text to print or, where ``figures``
    is set, a dict of figures and lists of rows: printed as ``name: value`` lines, or as JSON with ``--json``.
    """

    figures = False
    requires_migrations_checks = True

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        if self.figures:
            parser.add_argument("--json", action="store_true", help="print the figures as JSON")
        return parser

    def act(self, progress: TerminalBar, **options: Any) -> str | dict[str, Any]:
        raise NotImplementedError(f"{type(self).__module__} has no act")

    def execute(self, *args: Any, **options: Any) -> str | None:
        """As Django does, which looks for migrations before ``handle``."""
        try:
            return super().execute(*args, **options)
        except (OperationalError, ProgrammingError) as error:
            raise CommandError(_of_the_database(error)) from error

    def handle(self, *args: Any, **options: Any) -> str | None:
        progress = TerminalBar()
        try:
            outcome = self.act(progress, **options)
        except CounterpartError as error:
            raise CommandError(str(error)) from error
        finally:
            progress.close()
        if not isinstance(outcome, dict):
            return outcome
        if options["json"]:
            return json.dumps(outcome, default=str)
        return "\n".join(line for name, value in outcome.items() for line in _lines(name, value))


def _of_the_database(error: DatabaseError) -> str:
    """Say in a line what is mostly wrong: it is not there, not migrated, or somebody else writes to it for long."""
    said = " ".join(str(error).split())
    return (
        f"The database could not be used ({said[:200]}). If it is new, run migrate first; if it is busy, give the "
        "command again. --traceback shows where."
    )


def _lines(name: str, value: Any) -> list[str]:
    """A figure on a line of its own; a list of rows, a line each below its name."""
    if not isinstance(value, list):
        return [f"{name}: {value}"]
    rows = (", ".join(f"{key} {figure}" for key, figure in row.items()) for row in value)
    return [f"{name}:", *(f"  {row}" for row in rows)]
