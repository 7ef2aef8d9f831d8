"""Qualification requirements: which are valid, and which workers meet them."""

import operator
from collections.abc import Callable
from typing import Any

from counterpart_emulators.mturk.errors import does_not_exist, invalid_parameter, invalid_value
from counterpart_emulators.mturk.state import State, Worker

MASTERS = frozenset({"2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"})
APPROVED_COUNT = "00000000000000000040"
LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
APPROVAL_RATE = "000000000000000000L0"
SYSTEM_NAMES = {
    **dict.fromkeys(MASTERS, "Masters"),
    APPROVED_COUNT: "Number of HITs approved",
    LOCALE: "Location",
    ADULT: "Adult content",
    APPROVAL_RATE: "HIT approval rate (%)",
}

MOST_REQUIREMENTS = 10
MOST_INTEGERS = 15
MOST_LOCALES = 30

COMPARISONS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "LessThan": ("below", operator.lt),
    "LessThanOrEqualTo": ("at most", operator.le),
    "GreaterThan": ("above", operator.gt),
    "GreaterThanOrEqualTo": ("at least", operator.ge),
    "EqualTo": ("exactly", operator.eq),
    "NotEqualTo": ("not", operator.ne),
}
SETS = ("In", "NotIn")
PRESENCE = ("Exists", "DoesNotExist")


def check_requirements(state: State, requirements: list[dict[str, Any]]) -> None:
    """Raise the service's error for invalid requirements."""
    if len(requirements) > MOST_REQUIREMENTS:
        raise invalid_parameter(
            f"A HIT can have at most {MOST_REQUIREMENTS} Qualification requirements; {len(requirements)} were given."
        )
    for requirement in requirements:
        id = requirement["QualificationTypeId"]
        if not (id in SYSTEM_NAMES or id in state.premium_fees or id in state.qualification_types):
            raise does_not_exist("QualificationType", id)
        if {"ActionsGuarded", "RequiredToPreview"} <= requirement.keys():
            raise invalid_parameter(
                "ActionsGuarded and RequiredToPreview cannot be used together in a QualificationRequirement."
            )
        _check_values(requirement)


def meets(state: State, worker: Worker, requirement: dict[str, Any]) -> bool:
    """Whether a worker meets one requirement. A worker without a value meets only DoesNotExist."""
    comparator = requirement["Comparator"]
    has = _value_of(state, worker, requirement["QualificationTypeId"])
    if comparator in PRESENCE:
        return (has is not None) == (comparator == "Exists")
    if has is None or has is True:
        return False
    if requirement["QualificationTypeId"] == LOCALE:
        within = any(_lies_in(has, locale) for locale in requirement["LocaleValues"])
        return within == (comparator in ("EqualTo", "In"))
    values = requirement["IntegerValues"]
    if comparator in SETS:
        return (has in values) == (comparator == "In")
    return COMPARISONS[comparator][1](has, values[0])


def may(state: State, worker: Worker, requirements: list[dict[str, Any]], action: str) -> bool:
    """Whether a worker may ``Accept``, ``Preview`` or ``Discover`` HITs with these requirements."""
    return all(meets(state, worker, requirement) for requirement in requirements if action in guarded(requirement))


def guarded(requirement: dict[str, Any]) -> str:
    """Return the actions, as one word, that a requirement forbids to workers who do not meet it."""
    default = "PreviewAndAccept" if requirement.get("RequiredToPreview") else "Accept"
    return requirement.get("ActionsGuarded", default)


def in_words(state: State, requirement: dict[str, Any]) -> str:
    """Describe a requirement for the worker's page: ``HIT approval rate (%) at least 95``."""
    id = requirement["QualificationTypeId"]
    comparator = requirement["Comparator"]
    custom = state.qualification_types.get(id)
    name = custom.name if custom else SYSTEM_NAMES.get(id, id)
    if comparator in PRESENCE:
        return f"{name} {'is granted' if comparator == 'Exists' else 'is not granted'}"
    words = {"In": "is one of", "NotIn": "is not one of"}.get(comparator) or COMPARISONS[comparator][0]
    locales = [_locale_text(locale) for locale in requirement.get("LocaleValues", [])]
    return f"{name} {words} {', '.join(locales or map(str, requirement.get('IntegerValues', [])))}"


def _check_values(requirement: dict[str, Any]) -> None:
    """The comparator decides how many values it takes; only the location compares with locales."""
    comparator = requirement["Comparator"]
    integers = requirement.get("IntegerValues", [])
    locales = requirement.get("LocaleValues", [])
    if comparator in PRESENCE:
        _require(not integers and not locales, "Comparator", comparator)
    elif requirement["QualificationTypeId"] == LOCALE:
        _require(comparator in (*SETS, "EqualTo", "NotEqualTo"), "Comparator", comparator)
        _require(not integers, "IntegerValues", integers)
        _check_count(comparator, "LocaleValues", locales, MOST_LOCALES)
    else:
        _require(not locales, "LocaleValues", [_locale_text(locale) for locale in locales])
        _check_count(comparator, "IntegerValues", integers, MOST_INTEGERS)


def _check_count(comparator: str, parameter: str, values: list[Any], most: int) -> None:
    _require(1 <= len(values) <= (most if comparator in SETS else 1), parameter, values)


def _require(is_right: bool, parameter: str, value: object) -> None:
    if not is_right:
        raise invalid_value(f"QualificationRequirement.{parameter}", value)


def _value_of(state: State, worker: Worker, type_id: str) -> Any:
    """Return a worker's value: a number, a locale, True for a qualification without a value, or None."""
    if type_id in SYSTEM_NAMES:
        return _system_value(worker, type_id)
    held = state.qualifications.get((type_id, worker.id))
    if held is None or held.revoked:
        return None
    return True if held.value is None else held.value


def _system_value(worker: Worker, type_id: str) -> Any:
    if type_id in MASTERS:
        return True if worker.masters else None
    if type_id == LOCALE:
        return worker.country, worker.subdivision
    return {APPROVED_COUNT: worker.approved, APPROVAL_RATE: worker.approval_rate, ADULT: int(worker.adult)}[type_id]


def _lies_in(has: tuple[str, str | None], locale: dict[str, str]) -> bool:
    return has[0] == locale["Country"] and locale.get("Subdivision") in (None, has[1])


def _locale_text(locale: dict[str, str]) -> str:
    return "-".join(filter(None, (locale["Country"], locale.get("Subdivision"))))
