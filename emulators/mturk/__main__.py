"""Start MTurk's emulator: ``python -m emulators.mturk``."""

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from typing import Any

from emulators.command import Program, may_control
from emulators.mturk.emulator import Emulator
from emulators.mturk.signing import REGION, REQUESTER
from emulators.mturk.world import World


def _own_options(to: ArgumentParser) -> None:
    to.add_argument("--sandbox", action="store_true", help="behave like the sandbox: money never runs out")


def _make(options: Mapping[str, Any]) -> Emulator:
    world = World(
        seed=options["seed"],
        sandbox=options["sandbox"],
        balance=str(options["balance"]),
        journal=options["journal"],
    )
    return Emulator(world, host=options["host"], port=options["port"], may_control=may_control(options))


def _greet(emulator: Emulator) -> Iterator[str]:
    yield "This is an emulator of Amazon Mechanical Turk: no worker is real and no money moves."
    yield f"Requester API:   {emulator.url}   (region {REGION})"
    yield f"Workers' site:   {emulator.url}/worker/"
    yield f"Controls:        {emulator.url}/_emulator/   (from this machine only)"
    yield f"Access key:      {REQUESTER.access_key}"
    yield f"Secret key:      {REQUESTER.secret_key}"
    yield f"Seed:            {emulator.world.seed}"


PROGRAM = Program(
    module="emulators.mturk",
    help="Serve an emulated MTurk: the Requester API, the workers' site and controls, until Ctrl-C.",
    port=8900,
    own_options=_own_options,
    make=_make,
    greet=_greet,
)

if __name__ == "__main__":
    PROGRAM.main()
