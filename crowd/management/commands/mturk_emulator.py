"""Start MTurk's emulator, as ``python -m counterpart_emulators.mturk`` does."""

from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.errors import CounterpartError
from core.progress import TerminalBar
from counterpart_emulators.inputs import InputError
from counterpart_emulators.mturk.__main__ import PROGRAM


class Command(ActCommand):
    program = PROGRAM
    step = "crowd"
    help = program.help
    requires_migrations_checks = False  # the emulator keeps nothing in the database
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        self.program.add_options(parser)

    def act(self, progress: TerminalBar, **options: Any) -> str:
        try:
            return self.program.run(options, say=self._say)
        except InputError as error:
            raise CounterpartError(str(error)) from error

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()
