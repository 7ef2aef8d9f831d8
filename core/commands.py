"""The base class of every Counterpart command: progress bars, one-line errors, --json."""

import errno
import json
import sys
from argparse import Action
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from textwrap import indent
from types import UnionType
from typing import Any, ClassVar, get_args, get_origin

from django.contrib.auth.models import User
from django.core.checks import run_checks
from django.core.management.base import BaseCommand, CommandError, CommandParser, DjangoHelpFormatter
from django.db import ProgrammingError

from core.errors import DATABASE_LOST, CounterpartError, said_of_database
from core.parameters import Parameters
from core.progress import TerminalBar
from core.text import COLUMNS, text_table

WRONG_OPTIONS = 2  # the exit code, as of argparse


Argument = tuple[tuple[str, ...], dict[str, Any]]


def argument(*names: str, **described: Any) -> Argument:
    """Return one of the ``arguments`` of a command, declared as ``ArgumentParser.add_argument`` takes it."""
    return names, described


class OwnOptions(DjangoHelpFormatter):
    """Keeps lines, and hides in --help the one option of Django's that ``suppressed_base_arguments`` cannot hide."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Keep the lines of a command's help."""
        return "\n".join(map(partial(super()._fill_text, width=width, indent=indent), text.splitlines()))

    def _reordered_actions(self, actions: Iterable[Action]) -> list[Action]:
        return [action for action in actions if action.dest != "skip_checks"]


class ActCommand(BaseCommand):
    """A command that parses its options, calls one function and prints the result.

    A subclass defines ``act(**options)``, which returns the text to print; ``progress`` is among the options. Where it
    is annotated to return a dict of figures and lists of rows too, these are printed as ``name: value`` lines with
    labels and units, or by key as JSON with ``--json``. Where it has an argument ``parameters``, the options of its
    kind are the command's, with the ``arguments`` after them. ``step`` is one of ``command_help.STEPS``:
    ``manage.py help`` lists it there.
    """

    step: ClassVar[str] = "site"
    figures: ClassVar[bool] = False
    """Whether the command has the option ``--json``."""
    parameters: ClassVar[type[Parameters] | None] = None
    arguments: ClassVar[Sequence[Argument]] = ()
    requires_migrations_checks = True
    requires_system_checks: tuple[str, ...] = ("settings",)  # those of the addresses import every page
    suppressed_base_arguments = DjangoHelpFormatter.show_last  # Django's own options, half of all: still accepted

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "act" in vars(cls):
            hints = cls.act.__annotations__
            returned = get_args(hints["return"]) if isinstance(hints["return"], UnionType) else [hints["return"]]
            cls.figures = vars(cls).get("figures", any(get_origin(one) is dict for one in returned))
            cls.parameters = hints.get("parameters")

    def run_from_argv(self, argv: list[str]) -> None:
        """Run as Django does, but report invalid options in one line, without the usage."""
        try:
            super().run_from_argv(argv)
        except CommandError as error:  # of the parser: Django prints all others itself
            if "--traceback" in argv:
                raise
            message = " ".join(str(error).removeprefix("Error: ").split())
            self.stderr.write(f"CommandError: {message}. manage.py {argv[1]} --help lists the options.")
            sys.exit(WRONG_OPTIONS)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        self._called_from_command_line = False  # or the parser would print the usage itself
        parser = super().create_parser(prog_name, subcommand, **{"formatter_class": OwnOptions, **kwargs})
        if self.figures:
            parser.add_argument("--json", action="store_true", help="print the figures as JSON")
        return parser

    def add_arguments(self, parser: CommandParser) -> None:
        if self.parameters:
            self.parameters.add_options(parser)
        for names, described in self.arguments:
            parser.add_argument(*names, **described)

    def act(self, *args: Any, **options: Any) -> str | dict[str, Any]:
        raise NotImplementedError(f"{type(self).__module__} has no act")

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Overridden because Django checks the migrations here, before ``handle``, and prints after it."""
        try:
            outcome = super().execute(*args, **options)
            self.stdout.flush()
        # Errors that a person can correct become CommandErrors, which Django prints without a traceback.
        except CounterpartError as error:
            raise CommandError(str(error)) from error
        except (*DATABASE_LOST, ProgrammingError) as error:
            raise CommandError(f"{said_of_database(error)} --traceback shows the details.") from error
        except BrokenPipeError:
            raise  # The reader has closed the pipe: manage.py ends without a message.
        except OSError as error:
            raise CommandError(_file_error(error)) from error
        except MemoryError as error:
            wanted = f" ({error})" if str(error) else ""
            raise CommandError(
                f"There is not enough memory{wanted}. Use a machine with more, or a smaller input."
            ) from error
        return outcome

    def check(self, *args: Any, **options: Any) -> None:
        """Print a line for a setting that should change, and raise for one that is unsafe."""
        found = run_checks(tags=options["tags"])
        if any(message.is_serious() for message in found):
            super().check(*args, **options)
        for message in found:
            self.stderr.write(f"{message.msg} {message.hint}")

    def handle(self, *args: Any, **options: Any) -> str | None:
        progress = TerminalBar()
        if self.parameters:
            options["parameters"] = self.parameters.from_options(options)
        try:
            outcome = self.act(progress=progress, **options)
        finally:
            progress.close()
        if not isinstance(outcome, dict):
            return outcome
        if options["json"]:
            return as_json(outcome)
        return as_lines(outcome)


def as_json(figures: dict[str, Any]) -> str:
    return json.dumps(figures, default=str)


def as_lines(figures: dict[str, Any]) -> str:
    """Return figures for people: a line each, lists of rows below their names."""
    return "\n".join(line for name, value in figures.items() for line in _lines(name, value))


def _file_error(error: OSError) -> str:
    """Explain in one line a full disk, a file that may not be read or written, and the like."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        remedy = "Free some space"
    elif error.filename:
        remedy = "Check that the path exists and that you may read and write it"
    else:
        remedy = "Correct that"
    name = f": {error.filename}" if error.filename else ""
    return f"{error.strerror or error}{name}. {remedy}, then run the command again. --traceback shows the details."


LABELS = {
    "plan_hash": "SHA-256 of the plan",
    "topped_up": "controls that fill the last HIT",
    "positives_asked": "positives that are candidates too",
    "i2t": "image → captions",
    "t2i": "caption → images",
    "judged_by_level": "judged at each level, 1 (yes) to 4 (no)",
    "merged_against_verdict": "merged matches that people refused",
    "times_images": "× original",
    "times_captions": "× original",
}
"""Keys of figures → what people read, where the key itself with spaces does not say it."""


def _lines(name: str, value: Any) -> list[str]:
    """Return one line for a figure, or more for long figures by name; for a list of rows, a table below its name."""
    if not isinstance(value, list):
        line = f"{_label(name)}: {_plain(value)}"
        if not isinstance(value, dict) or len(line) <= COLUMNS:
            return [line]
        return [
            f"{_label(name)}:",
            *(f"  {line}" for key, figure in value.items() for line in _lines(str(key), figure)),
        ]
    return [f"{_label(name)}:", *indent(rows_table(value), "  ").splitlines()]


def rows_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows of figures by key as aligned columns under their labels, those of numbers to the right."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[_plain(row[key]) if key in row else "" for key in keys] for row in rows]
    figures = (int, float, Decimal)
    of_numbers = {n for n, key in enumerate(keys) if all(isinstance(row.get(key, 0), figures) for row in rows)}
    return text_table([_label(key) for key in keys], cells, right=of_numbers) if rows else "none"


def _label(name: str) -> str:
    return LABELS.get(name, name.replace("_", " "))


def _plain(value: Any) -> str:
    """Return a figure for people: money is the only Decimal; figures by name as "1: 42, 2: 7"."""
    if isinstance(value, dict):
        return ", ".join(f"{_label(str(name))}: {_plain(figure)}" for name, figure in value.items()) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"${value:,.2f}" if isinstance(value, Decimal) else "none" if value is None else str(value) or "none"


def ask(question: str, *, otherwise: str) -> None:
    """Ask before something is done. Raises CounterpartError, which begins with ``otherwise``, unless the answer is
    yes."""
    try:
        answer = input(question)
    except EOFError:
        answer = ""
    if answer.strip().lower() not in ("y", "yes"):
        raise CounterpartError(f"{otherwise} Answer y, or pass --yes.")


def person_named(username: str) -> User:
    """Return the member of staff in whose name a command acts. Raises CounterpartError for an unknown or inactive
    one."""
    if person := User.objects.filter(username=username, is_active=True).first():
        return person
    raise CounterpartError(f"Unknown or inactive user {username!r}: name the person who decides.")
