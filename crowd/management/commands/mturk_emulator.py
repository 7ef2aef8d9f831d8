"""Rehearse a round before paying for it: an MTurk of our own on this machine, with workers, money and a clock."""

import os
import secrets
import signal
import threading
from argparse import ArgumentTypeError
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.errors import CounterpartError
from core.progress import TerminalBar
from emulators.mturk.controls.guarding import is_local, is_own
from emulators.mturk.journal import JournalError, seed_of
from emulators.mturk.launching import launch
from emulators.mturk.server import Emulator
from emulators.mturk.signing import REGION, REQUESTER
from emulators.mturk.sqs.operations import ACCOUNT
from emulators.mturk.state import EVENTS_QUEUE
from emulators.mturk.world import World

PORT = 8900


class Command(ActCommand):
    help = "Serve an emulated MTurk: the Requester API, the workers' site and controls, until Ctrl-C."
    requires_migrations_checks = False  # the emulator keeps nothing in the database
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--port", type=_port, default=PORT, help="where to serve (default %(default)s; 0: a free one)"
        )
        parser.add_argument("--host", default="127.0.0.1", help="the address to serve on (default %(default)s)")
        parser.add_argument(
            "--seed", type=int, help="what ids are drawn from (default: the journal's, or another each time)"
        )
        parser.add_argument(
            "--balance", default="10000.00", help="dollars in the account at the start (default %(default)s)"
        )
        parser.add_argument("--journal", type=Path, help="keep every act in this file, and begin where it ends")
        parser.add_argument(
            "--open-controls",
            action="store_true",
            help="let everybody who reaches the port use the controls; only where nobody else reaches it, "
            "such as a container's port that is published to this machine alone",
        )
        parser.add_argument("--sandbox", action="store_true", help="behave as the sandbox: money never runs out")

    def act(self, progress: TerminalBar, **options: Any) -> str:
        world = _world(options)
        try:
            may_control = is_own if options["open_controls"] else is_local
            emulator = launch(world, host=options["host"], port=options["port"], may_control=may_control)
        except OSError as error:
            number = error.errno or 0  # below nothing for an unknown host, which the system has no words for
            why = os.strerror(number) if number > 0 else error.strerror
            raise CounterpartError(
                f"Nothing can be served on {options['host']}:{options['port']} ({why}); "
                "stop what is there, or name another --port."
            ) from error
        with emulator:
            self.stdout.write(_told(emulator, world))
            self.stdout.flush()
            until_stopped()
        return "The emulator has stopped." + ("" if options["journal"] else " Nothing of it is kept.")


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text[:9]) < 65536:
        return int(text)
    raise ArgumentTypeError(f"{text!r} is no port; give a number up to 65535")


def until_stopped() -> None:
    """Wait for Ctrl-C or a request to terminate."""
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    stopped.wait()


def _world(options: dict[str, Any]) -> World:
    """Return the world that the options ask for. Raises CounterpartError."""
    _check_balance(options["balance"])
    path, seed = options["journal"], options["seed"]
    try:
        if seed is None and path:
            seed = seed_of(path)
        if seed is None:
            # Two rehearsals of one installation must not give the same ids: they would be the same HITs to it.
            seed = secrets.randbelow(2**32)
        return World(seed=seed, sandbox=options["sandbox"], balance=options["balance"], journal=path)
    except JournalError as error:
        raise CounterpartError(str(error)) from error
    except OSError as error:
        raise CounterpartError(f"{path} cannot be used ({error.strerror}); name another --journal.") from error


def _check_balance(text: str) -> None:
    try:
        is_right = Decimal(text) >= 0 and Decimal(text) == Decimal(text).quantize(Decimal("0.01"))
    except InvalidOperation:
        is_right = False
    if not is_right:
        raise CounterpartError(f"--balance {text} is no amount in dollars and cents; give one such as 250.00.")


def _told(emulator: Emulator, world: World) -> str:
    return "\n".join(
        [
            "This is an emulator of Amazon Mechanical Turk: no worker is real and no money moves.",
            f"Requester API:   {emulator.url}   (region {REGION})",
            f"Workers' site:   {emulator.url}/worker/",
            f"Controls:        {emulator.url}/_emulator/   (from this machine only)",
            f"Event queue:     {emulator.url}/{ACCOUNT}/{EVENTS_QUEUE}   (SQS, the same keys)",
            f"Access key:      {REQUESTER.access_key}",
            f"Secret key:      {REQUESTER.secret_key}",
            f"Seed:            {world.seed}",
            "Press Ctrl-C to stop.",
        ]
    )
