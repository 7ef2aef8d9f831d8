"""What a fault is, and how one is declared."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, get_args

from emulators.mturk.faults.answers import SHAPES
from emulators.mturk.model import service_model
from emulators.mturk.rows import EventType

Settings = Mapping[str, Any]

SECONDS = "a number of seconds, 0 or more"


class FaultError(ValueError):
    """A declaration that makes no fault: one line with the offender and what would do."""


@dataclass(frozen=True)
class Setting:
    """One of a kind's own settings: what it must be, in words and as a test."""

    wanted: str
    holds: Callable[[Any], bool]
    required: bool = True


@dataclass(frozen=True)
class Kind:
    """``help`` says what happens; ``on``: call, reading, work or event, which is what ``operation`` then names.

    ``only``: the operations that it can happen to, where those are not all of them.
    """

    on: str
    help: str
    settings: Mapping[str, Setting] = field(default_factory=dict)
    only: tuple[str, ...] = ()

    @property
    def operations(self) -> tuple[str, ...]:
        """The names that a fault of this kind may give as its operation, beside "*"."""
        return self.only or _NAMES[self.on]()


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _count(value: Any) -> bool:
    return _whole(value) and value >= 1


def _share(value: Any) -> bool:
    return _number(value) and value <= 1


def _amount(value: Any) -> bool:
    try:
        amount = Decimal(value) if isinstance(value, str) else Decimal(-1)
    except InvalidOperation:
        return False
    return amount.is_finite() and amount >= 0 and amount == round(amount, 2)


def _one_of(*values: Any) -> Setting:
    return Setting("one of " + ", ".join(map(str, values)), lambda value: value in values)


READING = ("GetHIT", "ListHITs", "ListReviewableHITs", "ListAssignmentsForHIT", "GetAssignment")
WORK = ("preview", "accept", "work", "submit", "return")

_NAMES: Mapping[str, Callable[[], tuple[str, ...]]] = {
    "call": lambda: tuple(service_model().operation_names),
    "reading": lambda: READING,
    "work": lambda: WORK,
    "event": lambda: get_args(EventType),
}

KINDS: Mapping[str, Kind] = {
    "throttle": Kind(
        "call",
        "ThrottlingException. With rate (calls a second) and burst, a token bucket on the emulator's clock decides.",
        {
            "rate": Setting("calls a second, 0 or more", _number, required=False),
            "burst": Setting("a number of calls, 1 or more", _count, required=False),
        },
    ),
    "status": Kind(
        "call",
        "Nothing is done; the answer has this HTTP status and a JSON fault, an HTML page or no body.",
        {"status": _one_of(500, 502, 503, 504, 505), "body": _one_of("json", "html", "none")},
    ),
    "reset": Kind("call", "Nothing is done and the connection is closed without an answer."),
    "drop": Kind("call", "The call is done, then the connection is closed without an answer."),
    "latency": Kind(
        "call",
        "The call is done at once, and its answer comes this much later, in real time.",
        {"seconds": Setting(SECONDS, _number)},
    ),
    "stall": Kind("call", "The call is done this much later, in real time.", {"seconds": Setting(SECONDS, _number)}),
    "balance": Kind(
        "call",
        "Before the call is done, the available balance becomes this amount.",
        {"amount": Setting('an amount such as "4.20"', _amount)},
    ),
    "crowd": Kind(
        "call",
        "Before the call is done, its HIT, or else the latest one, changes: a worker more accepts or submits, the "
        "first unreviewed work is approved, or it expires.",
        {"act": _one_of("accept", "submit", "approve", "expire")},
    ),
    "lag": Kind(
        "reading",
        "The answer shows HITs, counters and assignments as they stood so long ago.",
        {"seconds": Setting(SECONDS, _number)},
    ),
    "blind": Kind(
        "reading",
        "ApproveAssignment, RejectAssignment and GetAssignment do not know submissions younger than this.",
        {"seconds": Setting(SECONDS, _number)},
        only=("ApproveAssignment", "RejectAssignment", "GetAssignment"),
    ),
    "flicker": Kind(
        "reading",
        "A HIT that is Reviewable shows as Assignable.",
        only=("GetHIT", "ListHITs", "ListReviewableHITs"),
    ),
    "page": Kind(
        "reading",
        "A page holds at most so many results; 0 gives an empty page, with a token for the same place.",
        {"size": Setting("a number of results, 0 or more", _whole)},
        only=tuple(name for name in service_model().operation_names if name.startswith("List")),
    ),
    "answer": Kind(
        "work",
        "What the worker submits is stored as another Answer.",
        {"shape": _one_of(*SHAPES)},
        only=("submit",),
    ),
    "clock": Kind(
        "work",
        "So much time passes before the worker's act is done.",
        {"seconds": Setting(SECONDS, _number)},
        only=("accept", "submit", "return"),
    ),
    "reissue": Kind(
        "work",
        "Whoever accepts gets an AssignmentId that was returned: their own, another worker's, or never one.",
        {"to": _one_of("same", "another", "never")},
        only=("accept",),
    ),
    "address": Kind(
        "work",
        "On preview or work: turkSubmitTo ends in a slash, every parameter comes twice, assignmentId comes twice with "
        "different values, or workerId is missing.",
        {"form": _one_of("slash", "repeated", "contradicting", "no worker")},
        only=("preview", "work"),
    ),
    "repeat": Kind("event", "The event is sent twice."),
    "shuffle": Kind("event", "The event is put somewhere among those that wait in the queue."),
    "lose": Kind("event", "The event is not sent."),
    "delay": Kind("event", "The event reaches the queue later.", {"seconds": Setting(SECONDS, _number)}),
    "early": Kind(
        "event",
        "The event is sent at once, but for so long its assignment can be neither read nor decided.",
        {"seconds": Setting(SECONDS, _number)},
    ),
}

TRIGGERS: Mapping[str, Setting] = {
    "nth": Setting("1 or more, counted from when the fault was set", _count),
    "probability": Setting("a number from 0 to 1", _share),
    "seed": Setting("a whole number", _whole),
    "times": Setting("a number of times, 1 or more", _count),
}


@dataclass(frozen=True)
class Fault:
    """A kind of mischief and when it happens: to the ``nth`` call of ``operation``, or to each with ``probability``,
    and then ``times`` times in all. Without either it happens to every call; ``operation`` "*" means any.
    """

    kind: str
    operation: str = "*"
    nth: int | None = None
    probability: float | None = None
    seed: int = 0
    times: int | None = None
    settings: Settings = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the declaration this fault was made of."""
        said = {name: value for name, value in asdict(self).items() if value is not None and name != "settings"}
        return {**said, **self.settings}


def declare(given: Mapping[str, Any]) -> Fault:
    """Make a fault of its declaration. Raises FaultError."""
    kind = given.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise FaultError(f"There is no fault of kind {kind!r}; choose one of: {', '.join(KINDS)}.")
    own = KINDS[kind].settings
    _check(kind, given, own)
    if "nth" in given and "probability" in given:
        raise FaultError(f"A {kind} fault happens to the nth call or with a probability, not both; leave one out.")
    settings = {name: given[name] for name in own if name in given}
    if ("rate" in settings) != ("burst" in settings):
        raise FaultError("A token bucket needs both rate and burst; give the other one too.")
    triggers = {name: given[name] for name in TRIGGERS if name in given}
    return Fault(kind=kind, operation=_operation(kind, given), settings=settings, **triggers)


def _operation(kind: str, given: Mapping[str, Any]) -> str:
    operation, known = given.get("operation", "*"), KINDS[kind].operations
    if operation != "*" and operation not in known:
        raise FaultError(f'A {kind} fault cannot happen to {operation!r}; name "*" or one of: {", ".join(known)}.')
    return str(operation)


def _check(kind: str, given: Mapping[str, Any], own: Mapping[str, Setting]) -> None:
    known = {**TRIGGERS, **own}
    if unknown := given.keys() - known.keys() - {"kind", "operation"}:
        raise FaultError(f"A {kind} fault has no setting {sorted(unknown)[0]!r}; it has: {', '.join(known)}.")
    if missing := [name for name, setting in own.items() if setting.required and name not in given]:
        raise FaultError(f"A {kind} fault needs {missing[0]}: {own[missing[0]].wanted}.")
    for name, setting in known.items():
        if name in given and not setting.holds(given[name]):
            raise FaultError(f"{name} is {given[name]!r}; it must be {setting.wanted}.")
