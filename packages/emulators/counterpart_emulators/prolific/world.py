"""The emulated Prolific behind one lock: the API's operations, and what participants do."""

from collections import Counter
from pathlib import Path
from typing import Any, Literal

from counterpart_emulators.marketplace import Marketplace
from counterpart_emulators.prolific import participants
from counterpart_emulators.prolific.hooks import put_off, record_attempt
from counterpart_emulators.prolific.lifecycle import MOVES
from counterpart_emulators.prolific.operations import OPERATIONS
from counterpart_emulators.prolific.state import State
from counterpart_emulators.world_clock import Clock


class World(Marketplace[State]):
    """Prolific with one researcher, who has one workspace. Raises JournalError."""

    acts = {
        **Marketplace.acts,
        **{name: operation.do for name, operation in OPERATIONS.items() if operation.method != "GET"},
        "register_participant": participants.register_participant,
        "reserve": participants.reserve,
        "start": participants.start,
        "complete": participants.enter_code,
        "return": participants.give_back,
        "record_attempt": record_attempt,
        "put_off": put_off,
    }
    moves = MOVES

    def __init__(
        self,
        *,
        seed: int = 0,
        currency: Literal["USD", "GBP"] = "USD",
        balance: str = "10000.00",
        journal: Path | None = None,
        clock: Clock | None = None,
    ) -> None:
        settings = {"seed": seed, "currency": currency}
        super().__init__(State(seed=seed, currency=currency), settings, balance=balance, journal=journal, clock=clock)

    def register(self, participant_id: str | None = None, **profile: Any) -> str:
        """Register a participant and return their id."""
        done = self.act("register_participant", participant_id=participant_id, **profile)
        return str(done["participant_id"])

    def counts(self) -> dict[str, Any]:
        with self.looking() as state:
            return {
                "studies": dict(Counter(each.status for each in state.studies.values())),
                "submissions": dict(Counter(each.status for each in state.submissions.values())),
                "participants": len(state.participants),
            }
