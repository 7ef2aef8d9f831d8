"""Register HIT types: the same values are the same type."""

from datetime import timedelta
from typing import Any

from emulators.mturk.errors import does_not_exist
from emulators.mturk.limits import check_limits
from emulators.mturk.money import dollars
from emulators.mturk.requirements import check_requirements
from emulators.mturk.rows import HITType
from emulators.mturk.state import State

THIRTY_DAYS = 2_592_000


def create_hit_type(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Register a type, or find the one that has these values."""
    return {"HITTypeId": registered(state, params).id}


def registered(state: State, params: dict[str, Any]) -> HITType:
    """Return the HIT type with these values, registered now if there was none."""
    type = wanted(state, params)
    if type.id not in state.hit_types:
        type.id, type.group_id = state.mint("HIT type"), state.mint("HIT group")
        state.hit_types[type.id] = type
    return type


def wanted(state: State, params: dict[str, Any]) -> HITType:
    """Return the HIT type with these values, without an id where it is not registered. Raises TurkError."""
    check_limits(params)
    requirements = params.get("QualificationRequirements", [])
    check_requirements(state, requirements)
    values = {
        "title": params["Title"],
        "description": params["Description"],
        "keywords": params.get("Keywords", ""),
        "reward": dollars(params["Reward"]),
        "duration": timedelta(seconds=params["AssignmentDurationInSeconds"]),
        "auto_approval_delay": timedelta(seconds=params.get("AutoApprovalDelayInSeconds", THIRTY_DAYS)),
        "requirements": requirements,
    }
    for type in state.hit_types.values():
        if all(getattr(type, name) == value for name, value in values.items()):
            return type
    return HITType(id="", group_id="", **values)


def hit_type(state: State, id: str) -> HITType:
    """Return a HIT type. Raises TurkError for an unknown one."""
    if id not in state.hit_types:
        raise does_not_exist("HITType", id)
    return state.hit_types[id]
