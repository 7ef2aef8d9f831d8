"""Start Prolific's emulator: ``python -m emulators.prolific``."""

from counterpart_emulators.command import Program
from counterpart_emulators.prolific.emulator import SIGNS, Emulator
from counterpart_emulators.prolific.world import World

PROGRAM = Program(
    module="emulators.prolific",
    help="Serve an emulated Prolific: the API, the participants' site, webhooks and controls, until Ctrl-C.",
    port=8950,
    own={"currency": {"choices": [*SIGNS], "default": "USD", "help": "of the workspace (default %(default)s)"}},
    world=World,
    emulator=Emulator,
    notice="This is an emulator of Prolific: no participant is real and no money moves.",
    greet=lambda emulator: {
        "API": f"{emulator.url}/api/v1/",
        "Participants' site": f"{emulator.url}/studies/",
        "Token": emulator.token,
    },
)

if __name__ == "__main__":
    PROGRAM.main()
