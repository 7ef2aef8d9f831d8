"""The kinds of faults that MTurk's emulator knows, and the operations each can happen to."""

from collections.abc import Mapping

from counterpart_emulators.call_faults import kinds_of_calls
from counterpart_emulators.faults import FaultKind
from counterpart_emulators.inputs import SECONDS, number, one_of
from counterpart_emulators.mturk.faults.worker_acts import ADDRESSES, SHAPES
from counterpart_emulators.mturk.world import OPERATIONS

EXAMPLE = '{"kind": "drop", "operation": "CreateHITWithHITType", "nth": 1}'

CALLS = tuple(sorted(OPERATIONS))
LISTS = tuple(name for name in CALLS if name.startswith("List"))
READINGS = ("GetHIT", "ListHITs", "ListReviewableHITs", "ListAssignmentsForHIT", "GetAssignment")

KINDS: Mapping[str, FaultKind] = {
    **kinds_of_calls(CALLS, busy="ThrottlingException", bodies=("json", "html", "none")),
    "crowd": FaultKind(
        "Before the call, its HIT, or else the latest one, changes: another worker accepts or submits, the first "
        "unreviewed work is approved, or it expires.",
        CALLS,
        {"act": one_of("accept", "submit", "approve", "expire")},
    ),
    "lag": FaultKind(
        "The answer shows HITs, counters and assignments as they were some seconds ago.", READINGS, {"seconds": SECONDS}
    ),
    "blind": FaultKind(
        "Calls for a single assignment do not know submissions younger than this.",
        ("ApproveAssignment", "RejectAssignment", "GetAssignment"),
        {"seconds": SECONDS},
    ),
    "flicker": FaultKind("A Reviewable HIT is shown as Assignable.", ("GetHIT", "ListHITs", "ListReviewableHITs")),
    "page": FaultKind(
        "A page holds at most this many results; 0 gives an empty page, with a token for the same place.",
        LISTS,
        {"size": number("a number of results, 0 or more", whole=True, required=True)},
    ),
    "answer": FaultKind(
        "The worker's submission is stored as another Answer.", ("submit",), {"shape": one_of(*SHAPES)}
    ),
    "clock": FaultKind("Time passes before the worker's act.", ("accept", "submit", "return"), {"seconds": SECONDS}),
    "reissue": FaultKind(
        "A worker who accepts gets a returned AssignmentId: their own, another worker's, or never one.",
        ("accept",),
        {"to": one_of("same", "another", "never")},
    ),
    "address": FaultKind(
        "On preview or work: turkSubmitTo ends in a slash, every parameter comes twice, assignmentId comes twice with "
        "different values, or workerId is missing.",
        ("preview", "work"),
        {"form": one_of(*ADDRESSES)},
    ),
}
