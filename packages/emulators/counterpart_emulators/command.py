"""The options and the run of an emulator on the command line, with or without Django."""

import os
import secrets
import signal
import sys
import threading
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from counterpart_emulators.control_panel import is_local, is_own
from counterpart_emulators.inputs import InputError
from counterpart_emulators.journal import seed_of
from counterpart_emulators.money import read_amount
from counterpart_emulators.server import Server


@dataclass(frozen=True)
class Program:
    """The command line of an emulator: ``python -m MODULE``.

    ``own`` are the options that only this emulator has, by name, as argparse takes them; its ``world`` is made with
    them too. ``notice`` and ``greet`` describe it and its addresses, in lines with a name.
    """

    module: str
    help: str
    port: int
    own: Mapping[str, Mapping[str, Any]]
    world: Callable[..., Any]
    emulator: Callable[..., Server]
    notice: str
    greet: Callable[[Any], Mapping[str, str]]

    def add_options(self, parser: ArgumentParser) -> None:
        """Add all options."""
        _add_options(parser, port=self.port)
        for name, how in self.own.items():
            parser.add_argument(f"--{name}", **how)

    def parser(self) -> ArgumentParser:
        made = ArgumentParser(f"python -m {self.module}", description=self.help)
        self.add_options(made)
        return made

    def run(self, options: Mapping[str, Any], *, say: Callable[[str], None]) -> str:
        """Serve until Ctrl-C; returns a closing line. Raises InputError."""
        return _serve(options, start=lambda: self._make(options), greet=lambda made: say(self._greeting(made)))

    def main(self, arguments: Sequence[str] | None = None) -> None:
        """Run with the arguments of the command line."""
        try:
            print(self.run(vars(self.parser().parse_args(arguments)), say=lambda text: print(text, flush=True)))
        except InputError as error:
            sys.exit(f"Error: {error}")

    def _make(self, options: Mapping[str, Any]) -> Server:
        own = {name: options[name] for name in self.own}
        balance = str(options["balance"])
        journal = options["journal"]
        world = self.world(seed=_seed_for(options), balance=balance, journal=journal, **own)
        may_control = is_own if options["open_controls"] else is_local
        return self.emulator(world, host=options["host"], port=options["port"], may_control=may_control)

    def _greeting(self, emulator: Any) -> str:
        lines = {
            **self.greet(emulator),
            "Controls": f"{emulator.url}/_emulator/   (from this machine only)",
            "Seed": str(emulator.world.seed),
        }
        named = [f"{name + ':':<20} {text}" for name, text in lines.items()]
        return "\n".join([self.notice, *named, "Press Ctrl-C to stop."])


def _add_options(parser: ArgumentParser, *, port: int) -> None:
    parser.add_argument(
        "--port", type=_port, default=port, help="port to serve on (default %(default)s; 0: any free port)"
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to serve on (default %(default)s)")
    parser.add_argument("--seed", type=int, help="seed of all ids (default: the journal's, else a random one)")
    parser.add_argument(
        "--balance", type=_amount, default="10000.00", help="dollars in the account at the start (default %(default)s)"
    )
    parser.add_argument("--journal", type=Path, help="file that keeps every act; a restart continues from it")
    parser.add_argument(
        "--open-controls",
        action="store_true",
        help="let every request that reaches the port use the controls; only for a port that other machines cannot "
        "reach, such as a container's port published to this machine alone",
    )


def _seed_for(options: Mapping[str, Any]) -> int:
    """Return the seed that the options ask for. Raises JournalError or OSError for an unusable journal."""
    seed = options["seed"]
    if seed is None and options["journal"]:
        seed = seed_of(options["journal"])
    # A random one by default: two rehearsals of one installation must not give the same ids.
    return secrets.randbelow(2**32) if seed is None else seed


def _serve(options: Mapping[str, Any], *, start: Callable[[], Server], greet: Callable[[Any], None]) -> str:
    """Make the server with ``start``, ``greet`` and serve until Ctrl-C; returns a closing line. Raises InputError."""
    try:
        server = start()
    except OSError as error:
        if error.filename is not None:
            raise InputError(f"{error.filename} cannot be used ({error.strerror}); use another --journal.") from error
        number = error.errno or 0  # negative for an unknown host, which the system has no text for
        why = os.strerror(number) if number > 0 else error.strerror
        address = f"{options['host']}:{options['port']}"
        raise InputError(f"Cannot serve on {address} ({why}). Stop what uses it or choose another --port.") from error
    with server:
        greet(server)
        until_stopped()
    return "The emulator has stopped." + ("" if options["journal"] else " Nothing was kept, as no --journal was given.")


def until_stopped() -> None:
    """Wait for Ctrl-C or a request to terminate."""
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    stopped.wait()


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text[:9]) < 65536:
        return int(text)
    raise ArgumentTypeError(f"{text!r} is not a port; use a number up to 65535")


def _amount(text: str) -> Decimal:
    try:
        return read_amount(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error
