"""Commands of several acts, such as ``pay bonus`` and ``pay list``, and the old names of merged commands."""

import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any, ClassVar, cast

from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand, CommandParser

from core.commands import ActCommand

OLD_NAMES = {
    "audit": "reconcile_books",
    "bonus": "pay bonus",
    "cleanup": "review cleanup",
    "conflicts": "review conflicts",
    "costs": "ledger --platform",
    "decide": "review decide",
    "exclude": "review exclude",
    "export_captions": "export --format captions",
    "mark_paid": "pay mark",
    "mturk_emulator": "emulate mturk",
    "pair_status": "analyse pair",
    "pay_for_outage": "pay outage",
    "payments": "pay list",
    "plan_top_up": "add",
    "prefilter": "pool --bleu",
    "prolific_emulator": "emulate prolific",
    "resume": "pause --resume",
    "review_queue": "review queue",
    "top_up": "pay floor",
    "what_if": "plan --replay",
    "write_to_workers": "message",
}
"""What the old names of merged commands run until the next version: a command, and words put before what is typed."""


class CommandGroup(ActCommand):
    """A command whose first word chooses one of its ``acts``: commands by name, each with its own options and help."""

    acts: ClassVar[Mapping[str, type[ActCommand]]]

    def add_arguments(self, parser: CommandParser) -> None:
        def parser_of(*, prog: str) -> CommandParser:
            before, _, name = prog.rpartition(" ")
            return self.acts[name]().create_parser(before, name)

        parsers = ArgumentParser.add_subparsers(  # not CommandParser's, which makes parsers of no command
            parser, dest="act", metavar="ACT", required=True, parser_class=cast(type[CommandParser], parser_of)
        )
        for name, act in self.acts.items():
            parsers.add_parser(name, help=act.help)

    def run_from_argv(self, argv: list[str]) -> None:
        program, group, *typed = argv
        if typed and typed[0] in self.acts:
            self.acts[typed[0]]().run_from_argv([program, f"{group} {typed[0]}", *typed[1:]])
        else:
            super().run_from_argv(argv)

    def execute(self, *args: Any, **options: Any) -> str | None:
        return self.acts[options.pop("act")]().execute(*args, **options)


class OldName(BaseCommand):
    """A merged command under its old name: it does the same, after a line that says the new one."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.new, *self.words = OLD_NAMES[name].split()

    @property
    def command(self) -> BaseCommand:
        return load_command_class(get_commands()[self.new], self.new)

    def notice(self) -> str:
        return f"{self.name} is now {OLD_NAMES[self.name]}; the old name goes with the next version.\n"

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = self.command.create_parser(prog_name, self.new, **kwargs)
        parse = parser.parse_args
        vars(parser)["parse_args"] = lambda args=(), namespace=None: parse([*self.words, *args], namespace)
        return parser

    def run_from_argv(self, argv: list[str]) -> None:
        sys.stderr.write(self.notice())
        self.command.run_from_argv([argv[0], self.new, *self.words, *argv[2:]])

    def print_help(self, prog_name: str, subcommand: str) -> None:
        self.run_from_argv([prog_name, subcommand, "--help"])

    def execute(self, *args: Any, **options: Any) -> str | None:
        (options.get("stderr") or sys.stderr).write(self.notice())
        return self.command.execute(*args, **options)


def answer_old_names() -> None:
    """Let Django find the old names, from the shell and by ``call_command``; they are in no folder of commands."""
    commands = cast(dict[str, Any], get_commands())
    commands.update({name: OldName(name) for name, new in OLD_NAMES.items() if new.split()[0] in commands})
