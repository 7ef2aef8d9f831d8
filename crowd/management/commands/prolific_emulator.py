"""Start Prolific's emulator, as ``python -m counterpart_emulators.prolific`` does."""

from counterpart_emulators.prolific.__main__ import PROGRAM
from crowd.management.commands import mturk_emulator


class Command(mturk_emulator.Command):
    program = PROGRAM
    help = program.help
