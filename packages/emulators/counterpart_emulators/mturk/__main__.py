"""Start MTurk's emulator: ``python -m emulators.mturk``."""

from counterpart_emulators.command import Program
from counterpart_emulators.mturk.emulator import Emulator
from counterpart_emulators.mturk.signing import REGION, REQUESTER
from counterpart_emulators.mturk.world import World

PROGRAM = Program(
    module="emulators.mturk",
    help="Serve an emulated MTurk: the Requester API, the workers' site and controls, until Ctrl-C.",
    port=8900,
    own={"sandbox": {"action": "store_true", "help": "behave like the sandbox: money never runs out"}},
    world=World,
    emulator=Emulator,
    notice="This is an emulator of Amazon Mechanical Turk: no worker is real and no money moves.",
    greet=lambda emulator: {
        "Requester API": f"{emulator.url}   (region {REGION})",
        "Workers' site": f"{emulator.url}/worker/",
        "Access key": REQUESTER.access_key,
        "Secret key": REQUESTER.secret_key,
    },
)

if __name__ == "__main__":
    PROGRAM.main()
