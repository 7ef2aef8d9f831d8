"""Limits that the documentation states and the service's model does not."""

from typing import Any

from emulators.mturk.errors import TurkError, out_of_range

YEAR = 31_536_000
RANGES = {
    "LifetimeInSeconds": (30, YEAR),
    "AssignmentDurationInSeconds": (30, YEAR),
    "AutoApprovalDelayInSeconds": (0, 2_592_000),
    "MaxAssignments": (1, 1_000_000_000),
    "NumberOfAdditionalAssignments": (1, 1_000_000_000),
    "RetryDelayInSeconds": (0, YEAR),
    "TestDurationInSeconds": (1, YEAR),
}
LENGTHS = {
    "Title": 128,
    "Keywords": 1000,
    "Description": 2000,
    "RequesterAnnotation": 255,
    "RequesterFeedback": 1024,
    "Subject": 200,
    "MessageText": 4096,
}
NOT_EMPTY = ("Title", "Description", "Name", "Reason", "Subject", "MessageText", "RequesterFeedback")


def check_limits(params: dict[str, Any]) -> None:
    """Raise the marketplace's error for the first parameter that is out of its range, too long or empty."""
    for name, (least, most) in RANGES.items():
        if name in params and not least <= params[name] <= most:
            raise out_of_range(name, params[name], least, most)
    for name, most in LENGTHS.items():
        if len(params.get(name, "")) > most:
            raise _bad(f"The value for parameter {name} is too long: it can have at most {most} characters.")
    for name in NOT_EMPTY:
        if name in params and not params[name].strip():
            raise _bad(f"The value for parameter {name} is empty.")
    if any(_is_control(character) for character in params.get("RequesterFeedback", "")):
        raise _bad("RequesterFeedback contains a control character; only tab, line feed and return are allowed.")


def _is_control(character: str) -> bool:
    return (ord(character) < 32 and character not in "\t\n\r") or ord(character) == 127


def _bad(text: str) -> TurkError:
    return TurkError(text, code="ParameterValidationError")
