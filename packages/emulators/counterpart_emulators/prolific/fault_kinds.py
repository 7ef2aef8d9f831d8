"""The kinds of faults that Prolific's emulator knows, and the operations each can happen to."""

from collections.abc import Mapping

from counterpart_emulators.call_faults import kinds_of_calls
from counterpart_emulators.faults import FaultKind
from counterpart_emulators.inputs import SECONDS, number, one_of
from counterpart_emulators.prolific.call_faults import CROWD, SHOWN_LATE
from counterpart_emulators.prolific.operations import OPERATIONS
from counterpart_emulators.prolific.participant_acts import ADDRESSES

EXAMPLE = '{"kind": "drop", "operation": "pay_bonuses", "nth": 1}'

CALLS = tuple(sorted(OPERATIONS))
REFUSALS = (401, 402, 403, 409, 422, 423)
LISTS = tuple(name for name in CALLS if OPERATIONS[name].pages in ("page", "limit"))

KINDS: Mapping[str, FaultKind] = {
    **kinds_of_calls(CALLS, busy="Status 429", bodies=("json", "message", "html", "none"), refusals=REFUSALS),
    "crowd": FaultKind(
        "Before the call, its study, or else the latest one, changes: a participant reserves, completes or returns a "
        "place, or another researcher adds a place or stops it.",
        CALLS,
        {"act": one_of(*CROWD)},
    ),
    "publishing": FaultKind(
        "PUBLISH answers PUBLISHING; the study is ACTIVE after these seconds.", ("move_study",), {"seconds": SECONDS}
    ),
    "late": FaultKind(
        "The bonuses are paid these seconds after the call, not 60.", ("pay_bonuses",), {"seconds": SECONDS}
    ),
    "lag": FaultKind(
        "The answer shows statuses and codes as they were some seconds ago.", SHOWN_LATE, {"seconds": SECONDS}
    ),
    "processing": FaultKind("Submissions that await review or are approved show PROCESSING.", SHOWN_LATE),
    "shift": FaultKind(
        "The rows of a page are shifted by this number of places (negative: to earlier rows).",
        LISTS,
        {"by": number("a whole number, -100 to 100", least=-100, most=100, whole=True, required=True)},
    ),
    "next": FaultKind("A last page that is full names a next page, which is not found.", LISTS),
    "clock": FaultKind(
        "Time passes before the participant's act.", ("reserve", "start", "complete", "return"), {"seconds": SECONDS}
    ),
    "address": FaultKind(
        "The study is opened with its placeholders left in, with another participant or session, without a session, "
        "or with every parameter twice.",
        ("start",),
        {"form": one_of(*ADDRESSES)},
    ),
    "duplicate": FaultKind("A hook is sent twice.", ("deliver",)),
    "lost": FaultKind("A hook is never sent.", ("deliver",)),
    "hold": FaultKind("A hook is sent these seconds later, after others.", ("deliver",), {"seconds": SECONDS}),
    "signature": FaultKind(
        "A hook's signature is wrong: another text, or made with the secret before the last.",
        ("deliver",),
        {"form": one_of("bad", "old secret")},
    ),
}
