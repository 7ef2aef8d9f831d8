"""Start MTurk's emulator: ``python -m emulators.mturk``."""

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from emulators import command
from emulators.control_panel import is_local, is_own
from emulators.inputs import InputError
from emulators.mturk.emulator import Emulator
from emulators.mturk.signing import REGION, REQUESTER
from emulators.mturk.world import World

HELP = "Serve an emulated MTurk: the Requester API, the workers' site and controls, until Ctrl-C."


def add_options(to: ArgumentParser) -> None:
    command.add_options(to, port=8900)
    to.add_argument("--sandbox", action="store_true", help="behave like the sandbox: money never runs out")


def run(options: Mapping[str, Any], *, say: Callable[[str], None]) -> str:
    """Serve until Ctrl-C; returns a closing line. Raises InputError."""

    def start() -> Emulator:
        world = World(
            seed=command.seed_for(options),
            sandbox=options["sandbox"],
            balance=str(options["balance"]),
            journal=options["journal"],
        )
        may_control = is_own if options["open_controls"] else is_local
        return Emulator(world, host=options["host"], port=options["port"], may_control=may_control)

    return command.serve(options, start=start, greet=lambda emulator: say(_greeting(emulator)))


def parser() -> ArgumentParser:
    made = ArgumentParser("python -m emulators.mturk", description=HELP)
    add_options(made)
    return made


def main(arguments: Sequence[str] | None = None) -> None:
    try:
        print(run(vars(parser().parse_args(arguments)), say=lambda text: print(text, flush=True)))
    except InputError as error:
        sys.exit(f"Error: {error}")


def _greeting(emulator: Emulator) -> str:
    return "\n".join(
        [
            "This is an emulator of Amazon Mechanical Turk: no worker is real and no money moves.",
            f"Requester API:   {emulator.url}   (region {REGION})",
            f"Workers' site:   {emulator.url}/worker/",
            f"Controls:        {emulator.url}/_emulator/   (from this machine only)",
            f"Access key:      {REQUESTER.access_key}",
            f"Secret key:      {REQUESTER.secret_key}",
            f"Seed:            {emulator.world.seed}",
            "Press Ctrl-C to stop.",
        ]
    )


if __name__ == "__main__":
    main()
