"""Start Prolific's emulator, as ``python -m emulators.prolific`` does."""

from crowd.management.commands import mturk_emulator
from emulators.prolific.__main__ import PROGRAM


class Command(mturk_emulator.Command):
    program = PROGRAM
    help = program.help
