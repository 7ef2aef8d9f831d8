"""The kinds of faults that Prolific's emulator knows, and the operations each can happen to."""

from collections.abc import Mapping

from emulators.call_faults import kinds_of_calls
from emulators.faults import Kind
from emulators.inputs import SECONDS, number, one_of
from emulators.prolific.call_faults import CROWD, SHOWN_LATE
from emulators.prolific.operations import OPERATIONS
from emulators.prolific.participant_acts import ADDRESSES

EXAMPLE = '{"kind": "drop", "operation": "pay_bonuses", "nth": 1}'

CALLS = tuple(sorted(OPERATIONS))
REFUSALS = (401, 402, 403, 409, 422, 423)
LISTS = tuple(name for name in CALLS if OPERATIONS[name].pages in ("page", "limit"))

KINDS: Mapping[str, Kind] = {
    **kinds_of_calls(CALLS, busy="Status 429", bodies=("json", "message", "html", "none"), refusals=REFUSALS),
    "crowd": Kind(
        "Before the call, its study, or else the latest one, changes: somebody reserves, completes or returns a "
        "place, or another researcher adds a place or stops it.",
        CALLS,
        {"act": one_of(*CROWD)},
    ),
    "publishing": Kind(
        "PUBLISH answers PUBLISHING; the study is ACTIVE so many seconds later.", ("move_study",), {"seconds": SECONDS}
    ),
    "late": Kind(
        "The bonuses are paid so many seconds after the call, not 60.", ("pay_bonuses",), {"seconds": SECONDS}
    ),
    "lag": Kind("The answer shows statuses and codes as they were some seconds ago.", SHOWN_LATE, {"seconds": SECONDS}),
    "processing": Kind("Submissions that await review or are approved show PROCESSING.", SHOWN_LATE),
    "shift": Kind(
        "The rows of a page are those so many places later (or earlier, if negative).",
        LISTS,
        {"by": number("a whole number, -100 to 100", least=-100, most=100, whole=True, required=True)},
    ),
    "next": Kind("A last page that is full names a next page, which is not found.", LISTS),
    "clock": Kind(
        "Time passes before the participant's act.", ("reserve", "start", "complete", "return"), {"seconds": SECONDS}
    ),
    "address": Kind(
        "The study is opened with its placeholders left in, with another participant or session, without a session, "
        "or with every parameter twice.",
        ("start",),
        {"form": one_of(*ADDRESSES)},
    ),
    "duplicate": Kind("A hook is sent twice.", ("deliver",)),
    "lost": Kind("A hook is never sent.", ("deliver",)),
    "hold": Kind("A hook is sent so many seconds later, after others.", ("deliver",), {"seconds": SECONDS}),
    "signature": Kind(
        "A hook's signature is wrong: another text, or made with the secret before the last.",
        ("deliver",),
        {"form": one_of("bad", "old secret")},
    ),
}
