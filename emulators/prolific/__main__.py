"""Start Prolific's emulator: ``python -m emulators.prolific``."""

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from typing import Any

from emulators.command import Program, may_control
from emulators.prolific.emulator import SIGNS, Emulator
from emulators.prolific.world import World


def _own_options(to: ArgumentParser) -> None:
    to.add_argument("--currency", choices=[*SIGNS], default="USD", help="of the workspace (default %(default)s)")


def _make(options: Mapping[str, Any]) -> Emulator:
    world = World(
        seed=options["seed"],
        currency=options["currency"],
        balance=str(options["balance"]),
        journal=options["journal"],
    )
    return Emulator(world, host=options["host"], port=options["port"], may_control=may_control(options))


def _greet(emulator: Emulator) -> Iterator[str]:
    yield "This is an emulator of Prolific: no participant is real and no money moves."
    yield f"API:                 {emulator.url}/api/v1/"
    yield f"Participants' site:  {emulator.url}/studies/"
    yield f"Controls:            {emulator.url}/_emulator/   (from this machine only)"
    yield f"Token:               {emulator.token}"
    yield f"Seed:                {emulator.world.seed}"


PROGRAM = Program(
    module="emulators.prolific",
    help="Serve an emulated Prolific: the API, the participants' site, webhooks and controls, until Ctrl-C.",
    port=8950,
    own_options=_own_options,
    make=_make,
    greet=_greet,
)

if __name__ == "__main__":
    PROGRAM.main()
