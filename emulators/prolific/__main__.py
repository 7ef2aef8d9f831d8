"""Start Prolific's emulator: ``python -m emulators.prolific``."""

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from emulators import command
from emulators.control_panel import is_local, is_own
from emulators.inputs import InputError
from emulators.prolific.emulator import SIGNS, Emulator
from emulators.prolific.world import World

HELP = "Serve an emulated Prolific: the API, the participants' site, webhooks and controls, until Ctrl-C."


def add_options(to: ArgumentParser) -> None:
    command.add_options(to, port=8950)
    to.add_argument(
        "--currency", choices=[*SIGNS], default="USD", help="currency of the workspace (default %(default)s)"
    )


def run(options: Mapping[str, Any], *, say: Callable[[str], None]) -> str:
    """Serve until Ctrl-C; returns a closing line. Raises InputError."""

    def start() -> Emulator:
        world = World(
            seed=command.seed_for(options),
            currency=options["currency"],
            balance=str(options["balance"]),
            journal=options["journal"],
        )
        may_control = is_own if options["open_controls"] else is_local
        return Emulator(world, host=options["host"], port=options["port"], may_control=may_control)

    return command.serve(options, start=start, greet=lambda emulator: say(_greeting(emulator)))


def parser() -> ArgumentParser:
    made = ArgumentParser("python -m emulators.prolific", description=HELP)
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
            "This is an emulator of Prolific: no participant is real and no money moves.",
            f"API:                 {emulator.url}/api/v1/",
            f"Participants' site:  {emulator.url}/studies/",
            f"Controls:            {emulator.url}/_emulator/   (from this machine only)",
            f"Token:               {emulator.token}",
            f"Seed:                {emulator.world.seed}",
            "Press Ctrl-C to stop.",
        ]
    )


if __name__ == "__main__":
    main()
