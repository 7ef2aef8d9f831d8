"""Create, show and list qualification types."""

from datetime import timedelta
from typing import Any

from emulators.mturk.answer_keys import check_answer_key
from emulators.mturk.errors import TurkError, does_not_exist, xml_parse_error
from emulators.mturk.limits import check_limits
from emulators.mturk.listing import page
from emulators.mturk.questions import read_question
from emulators.mturk.rows import QualificationType
from emulators.mturk.state import State


def create_qualification_type(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Create a qualification type; its name has to be the only one of its kind."""
    check_limits(params)
    _check_test(params)
    if any(type.name == params["Name"] for type in state.qualification_types.values()):
        raise TurkError(
            "You have already created a QualificationType with this name. A QualificationType's name must be unique "
            "among all of the QualificationTypes created by the same user.",
            turk_code="QualificationTypeAlreadyExists",
        )
    type = _created(state, params)
    state.qualification_types[type.id] = type
    return {"QualificationType": shown(type)}


def get_qualification_type(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Show a qualification type."""
    return {"QualificationType": shown(find_type(state, params["QualificationTypeId"]))}


def list_qualification_types(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """List the requester's qualification types, oldest first; ``Query`` looks into names, descriptions and keywords."""
    query, requestable = params.get("Query", "").lower(), params["MustBeRequestable"]
    rows = [
        type
        for type in state.qualification_types.values()
        if query in f"{type.name} {type.description} {type.keywords or ''}".lower() and (type.active or not requestable)
    ]
    return page(state, params, name="QualificationTypes", rows=rows, serial=lambda type: type.serial, show=shown)


def find_type(state: State, id: str) -> QualificationType:
    """Return a qualification type. Raises TurkError for an unknown one."""
    if id not in state.qualification_types:
        raise does_not_exist("QualificationType", id)
    return state.qualification_types[id]


def shown(type: QualificationType) -> dict[str, Any]:
    """Return a qualification type as the API shows it."""
    fields = {
        "QualificationTypeId": type.id,
        "CreationTime": type.created_at,
        "Name": type.name,
        "Description": type.description,
        "Keywords": type.keywords,
        "QualificationTypeStatus": "Active" if type.active else "Inactive",
        "Test": type.test,
        "TestDurationInSeconds": _seconds(type.test_duration),
        "AnswerKey": type.answer_key,
        "RetryDelayInSeconds": _seconds(type.retry_delay),
        "IsRequestable": type.active,
        "AutoGranted": type.auto_granted,
        "AutoGrantedValue": type.auto_granted_value if type.auto_granted else None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _check_test(params: dict[str, Any]) -> None:
    """A test needs a duration, a key needs a test, and what is granted by itself has neither."""
    wrongs = {
        "A Test needs a TestDurationInSeconds.": "Test" in params and "TestDurationInSeconds" not in params,
        "An AnswerKey needs a Test.": "AnswerKey" in params and "Test" not in params,
        "A QualificationType with a Test cannot be AutoGranted.": "Test" in params and params.get("AutoGranted", False),
        "An AutoGrantedValue needs AutoGranted.": "AutoGrantedValue" in params and not params.get("AutoGranted", False),
    }
    if wrong := [text for text, is_wrong in wrongs.items() if is_wrong]:
        raise TurkError(wrong[0], code="ParameterValidationError")
    if "Test" in params and read_question(params["Test"], parameter="Test").kind != "QuestionForm":
        raise xml_parse_error("A Test must be a QuestionForm.")
    if "AnswerKey" in params:
        check_answer_key(params["AnswerKey"])


def _created(state: State, params: dict[str, Any]) -> QualificationType:
    return QualificationType(
        id=state.mint("qualification type"),
        serial=state.count("qualification type serial"),
        created_at=state.now,
        name=params["Name"],
        description=params["Description"],
        keywords=params.get("Keywords"),
        active=params["QualificationTypeStatus"] == "Active",
        test=params.get("Test"),
        answer_key=params.get("AnswerKey"),
        test_duration=_duration(params.get("TestDurationInSeconds")),
        retry_delay=_duration(params.get("RetryDelayInSeconds")),
        auto_granted=params.get("AutoGranted", False),
        auto_granted_value=params.get("AutoGrantedValue", 1),
    )


def _duration(seconds: int | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)


def _seconds(duration: timedelta | None) -> int | None:
    return None if duration is None else int(duration.total_seconds())
