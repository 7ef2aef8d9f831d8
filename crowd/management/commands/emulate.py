from typing import Any, ClassVar

from django.core.management.base import CommandParser

from core.command_groups import CommandGroup
from core.commands import ActCommand
from core.errors import CounterpartError
from counterpart_emulators.command import Program
from counterpart_emulators.inputs import InputError
from counterpart_emulators.mturk.__main__ import PROGRAM as MTURK
from counterpart_emulators.prolific.__main__ import PROGRAM as PROLIFIC


class Emulator(ActCommand):
    program: ClassVar[Program]
    requires_migrations_checks = False  # the emulator keeps nothing in the database
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        self.program.add_options(parser)

    def act(self, **options: Any) -> str:
        try:
            return self.program.run(options, say=self._say)
        except InputError as error:
            raise CounterpartError(str(error)) from error

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()


class MTurk(Emulator):
    program = MTURK
    help = MTURK.help


class Prolific(Emulator):
    program = PROLIFIC
    help = PROLIFIC.help


class Command(CommandGroup):
    step = "crowd"
    help = "Start an emulator of a platform, to rehearse on: its protocol, a site for workers, faults."
    acts = {"mturk": MTurk, "prolific": Prolific}
