"""Participant groups, and the filters that decide who may take a study."""

from collections.abc import Mapping
from typing import Any

from counterpart_emulators.prolific.errors import find, invalid
from counterpart_emulators.prolific.hooks import require_workspace
from counterpart_emulators.prolific.schemas import FILTERS, RANGES, Text
from counterpart_emulators.prolific.state import Group, Participant, State, Study


def list_filters(state: State, query: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {"filter_id": id, "title": title, "type": "range" if id in RANGES else "select"}
        for id, title in FILTERS.items()
    ]


def admits(state: State, study: Study, participant: Participant) -> bool:
    """Whether a study's filters and devices admit a participant, as the groups are now."""
    devices = study.terms["device_compatibility"]
    return participant.device in (devices or [participant.device]) and all(
        _meets(state, each, participant) for each in study.terms["filters"] or []
    )


def check_filters(state: State, filters: list[dict[str, Any]]) -> None:
    """Raise ProlificError for a group or a study that does not exist."""
    for each in filters:
        known: Mapping[str, Any] | None = None
        if each["filter_id"].startswith("participant_group"):
            known = state.groups
        elif each["filter_id"].startswith("previous_studies"):
            known = state.studies
        unknown = [id for id in each["selected_values"] or [] if known is not None and id not in known]
        if unknown:
            raise invalid("filters", f"{each['filter_id']}: {unknown[0]} was not found.")


def list_groups(state: State, query: Mapping[str, str]) -> list[dict[str, Any]]:
    return [_shown(state, group) for group in state.groups.values()]


def create_group(state: State, *, name: Text, workspace_id: str, description: str = "") -> dict[str, Any]:
    require_workspace(state, workspace_id)
    group = Group(state.mint("group"), name, description)
    state.groups[group.id] = group
    return _shown(state, group)


def list_members(state: State, query: Mapping[str, str], *, group_id: str) -> list[dict[str, Any]]:
    return _members(find(state.groups, group_id, "Participant group"))


def add_members(state: State, *, group_id: str, participant_ids: list[str]) -> dict[str, Any]:
    """Add participants; repeating it changes nothing."""
    group = find(state.groups, group_id, "Participant group")
    if unknown := [id for id in participant_ids if id not in state.participants]:
        raise invalid("participant_ids", f"Participants not found: {', '.join(unknown)}.")
    for id in participant_ids:
        group.members.setdefault(id, state.now)
    return {"results": _members(group)}


def remove_members(state: State, *, group_id: str, participant_ids: list[str]) -> dict[str, Any]:
    """Remove participants; others are ignored."""
    group = find(state.groups, group_id, "Participant group")
    for id in participant_ids:
        group.members.pop(id, None)
    return {"results": _members(group)}


def _meets(state: State, study_filter: dict[str, Any], participant: Participant) -> bool:
    kind = study_filter["filter_id"]
    wanted = {*(study_filter["selected_values"] or [])}
    if kind == "approval_rate":
        bounds = study_filter["selected_range"]
        upper = 100 if bounds["upper"] is None else bounds["upper"]
        return bool((bounds["lower"] or 0) <= participant.approval_rate <= upper)
    subject, _, listing = kind.rpartition("_")
    theirs = {participant.id}
    if subject == "participant_group":
        theirs = {group.id for group in state.groups.values() if participant.id in group.members}
    elif subject == "previous_studies":
        theirs = {each.study.id for each in participant.submissions}
    return bool(theirs & wanted) == (listing == "allowlist")


def _members(group: Group) -> list[dict[str, Any]]:
    return [{"participant_id": id, "datetime_created": at} for id, at in group.members.items()]


def _shown(state: State, group: Group) -> dict[str, Any]:
    return {
        "id": group.id,
        "name": group.name,
        "workspace_id": state.workspace_id,
        "description": group.description,
        "participant_count": len(group.members),
    }
