"""Studies as the researcher creates, publishes, changes and stops them, and the projects that hold them."""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal, get_args

from counterpart_emulators.prolific import wallet
from counterpart_emulators.prolific.errors import ProlificError, find, invalid, not_found
from counterpart_emulators.prolific.groups import check_filters
from counterpart_emulators.prolific.hooks import require_workspace
from counterpart_emulators.prolific.lifecycle import add_places, publish, resume, set_study_status, stop
from counterpart_emulators.prolific.schemas import AFTER_PUBLICATION, LONGEST, NewStudy, Text, read_body, shortest_limit
from counterpart_emulators.prolific.state import DRAFT, TAKING, State, Study, SubmissionStatus

Query = Mapping[str, str]
Action = Literal["PUBLISH", "SCHEDULE_PUBLISH", "CANCEL_PUBLISH", "PAUSE", "START", "STOP"]
LISTED = (
    "id", "name", "internal_name", "status", "study_type", "estimated_completion_time", "total_available_places",
    "places_taken", "number_of_submissions", "reward", "total_cost", "published_at", "publish_at", "date_created",
    "is_ready_to_publish",
)  # fmt: skip


def list_workspaces(state: State, query: Query) -> list[dict[str, Any]]:
    projects = [{"id": each["id"], "title": each["title"]} for each in state.projects.values()]
    return [{"id": state.workspace_id, "title": "Workspace", "wallet": state.workspace_id, "projects": projects}]


def list_projects(state: State, query: Query, *, workspace_id: str) -> list[dict[str, Any]]:
    require_workspace(state, workspace_id)
    return [each | {"workspace": workspace_id} for each in state.projects.values()]


def create_project(state: State, *, workspace_id: str, title: Text, description: str = "") -> dict[str, Any]:
    require_workspace(state, workspace_id)
    project = {"id": state.mint("project"), "title": title, "description": description}
    state.projects[project["id"]] = project
    return project | {"workspace": workspace_id}


def list_studies(state: State, query: Query) -> list[dict[str, Any]]:
    """List the studies, newest first, of some states if ``state`` names them: ``ACTIVE`` or ``(active|paused)``."""
    named = query.get("state", "").strip("()").replace("_", " ").upper()
    wanted = {*named.split("|")} if named else None
    return [
        {name: shown[name] for name in LISTED}
        for study in reversed(state.studies.values())
        if wanted is None or study.status in wanted
        for shown in [_shown(state, study)]
    ]


def create_study(state: State, **terms: Any) -> dict[str, Any]:
    """Create a draft. The same request twice makes two."""
    project_id = terms.pop("project") or next(iter(state.projects))
    terms = _checked(state, terms, project_id)
    study = Study(state.mint("study"), state.count("study serial"), state.now, terms, project_id)
    study.history.append((state.now, study.status))
    state.studies[study.id] = study
    return _shown(state, study)


def show_study(state: State, query: Query, *, study_id: str) -> dict[str, Any]:
    return _shown(state, find_study(state, study_id))


def delete_study(state: State, *, study_id: str) -> None:
    if find_study(state, study_id).status not in DRAFT:
        raise ProlificError("Only draft studies can be deleted.")
    del state.studies[study_id]


def change_study(state: State, *, study_id: str, **change: Any) -> dict[str, Any]:
    """Change a draft, or the few fields of a published study that can be changed."""
    study = find_study(state, study_id)
    if study.status in DRAFT:
        terms = read_body(NewStudy, {**study.terms, "project": study.project_id, **change})
        project_id = terms.pop("project")
        study.terms = _checked(state, terms, project_id)
        study.project_id = project_id
        return _shown(state, study)
    if fixed := sorted(change.keys() - {*AFTER_PUBLICATION}):
        raise ProlificError({name: ["This field cannot be changed after publication."] for name in fixed})
    if change.get("access_details"):
        _add_tasks(state, study, change["access_details"])
    elif change.get("total_available_places"):
        more = change["total_available_places"] - study.places
        if more < 0:
            raise invalid("total_available_places", "The number of places can only be increased.")
        if more:
            add_places(state, study, more)
    if "internal_name" in change:
        study.terms["internal_name"] = change["internal_name"]
    study.terms["submissions_config"] |= change.get("submissions_config") or {}
    return _shown(state, study)


def move_study(
    state: State, *, study_id: str, action: Action, publish_at: datetime | None = None, seconds: float = 0
) -> dict[str, Any]:
    """Publish, schedule, pause, start or stop a study. It is PUBLISHING for ``seconds`` first."""
    study = find_study(state, study_id)
    needed, move = ACTIONS[action]
    if study.status not in needed:
        raise ProlificError(f"{action} is not possible while the study is {study.status}.")
    if action == "SCHEDULE_PUBLISH":
        at = publish_at or study.terms["publish_at"]
        if at is None or at.tzinfo is None or at <= state.now:
            raise invalid("publish_at", "Give an instant in the future, with a time zone.")
        study.terms["publish_at"] = at
        state.schedule(at, "publish", study.id)
    if action == "PUBLISH":
        _prepare(state, study)
        if seconds:
            set_study_status(state, study, "PUBLISHING")
            state.schedule(state.now + timedelta(seconds=seconds), "publish", study.id)
            return _shown(state, study)
    move(state, study)
    return _shown(state, study)


def show_cost(state: State, query: Query, *, study_id: str) -> dict[str, Any]:
    """Show what a study has cost so far or, with ``is_projected``, what all its places cost."""
    study = find_study(state, study_id)
    sums = wallet.spent_on(state, study)
    if query.get("is_projected", "").lower() in ("1", "true", "yes", "t"):
        price = wallet.place_price(study)
        parts = {"rewards": price.reward, "fees": price.fee, "tax": price.vat}
        sums["rewards"] = {name: amount * study.places for name, amount in parts.items()}

    def shown(parts: Mapping[str, Decimal]) -> dict[str, Any]:
        return {name: {"amount": wallet.minor(amount), "currency": state.currency} for name, amount in parts.items()}

    return {name: shown(parts) for name, parts in sums.items()} | {"_links": {}}


def count_submissions(state: State, query: Query, *, study_id: str) -> dict[str, Any]:
    study = find_study(state, study_id)
    counts = Counter(each.status for each in study.submissions)
    return {status: counts[status] for status in sorted(get_args(SubmissionStatus))} | {"TOTAL": counts.total()}


def show_progress(state: State, query: Query, *, study_id: str) -> dict[str, Any]:
    """Show how many participants each URL of a study has got."""
    study = find_study(state, study_id)
    if not study.terms["access_details"]:
        raise not_found("Access details of study", study_id)
    progress = [
        each | {"allocated": allocated(study, each["external_url"]), "capacity_increments": 0}
        for each in study.terms["access_details"]
    ]
    return {"id": study.id, "progress": progress, "_links": {}}


def allocated(study: Study, url: str) -> int:
    """Return how many places of a URL are taken."""
    return sum(each.url == url and each.status in TAKING for each in study.submissions)


def find_study(state: State, study_id: str) -> Study:
    return find(state.studies, study_id, "Study")


def _checked(state: State, terms: dict[str, Any], project_id: str) -> dict[str, Any]:
    """Return a draft's fields with what follows from others. Raises ProlificError where they do not fit together."""
    if project_id not in state.projects:
        raise invalid("project", f"{project_id} was not found.")
    tasks = terms["access_details"]
    if bool(tasks) == bool(terms["external_study_url"]):
        raise invalid("external_study_url", "Give either external_study_url or access_details.")
    if tasks and sum(each["total_allocation"] for each in tasks) != terms["total_available_places"]:
        raise invalid("access_details", "The allocations must add up to total_available_places.")
    least = shortest_limit(terms["estimated_completion_time"])
    limit = terms["maximum_allowed_time"] or LONGEST
    if limit < least:
        raise invalid("maximum_allowed_time", f"Ensure this value is greater than or equal to {least}.")
    check_filters(state, terms["filters"] or [])
    for action in (action for code in terms["completion_codes"] for action in code["actions"]):
        group = action.get("participant_group")
        if group is not None and group not in state.groups:
            raise invalid("completion_codes", f"The participant group {group} was not found.")
        if action.get("fixed_screen_out_reward", 0) >= terms["reward"]:
            raise invalid("completion_codes", "fixed_screen_out_reward must be less than the reward.")
    return terms | {"maximum_allowed_time": limit}


def _prepare(state: State, study: Study) -> None:
    """Put a draft's price on hold. Raises ProlificError where it pays too little or funds are short."""
    hours = Decimal(str(study.terms["estimated_completion_time"])) / 60
    floor = wallet.FLOORS[state.currency]
    if study.terms["reward"] < floor * hours:
        text = f"The reward is less than {floor / 100:.2f} {state.currency} an hour of the estimated time."
        raise invalid("reward", text)
    wallet.hold(state, study, study.places)


def _add_tasks(state: State, study: Study, added: list[dict[str, Any]]) -> None:
    """Add allocations to a taskflow study: a URL that it has gets more places."""
    tasks = study.terms["access_details"]
    if not tasks:
        raise invalid("access_details", "This study has an external_study_url.")
    add_places(state, study, sum(each["total_allocation"] for each in added))
    by_url = {each["external_url"]: each for each in tasks}
    for each in added:
        if each["external_url"] in by_url:
            by_url[each["external_url"]]["total_allocation"] += each["total_allocation"]
        else:
            tasks.append(dict(each))


def _shown(state: State, study: Study) -> dict[str, Any]:
    return study.terms | {
        "id": study.id,
        "status": study.status,
        "study_type": "SINGLE",
        "project": study.project_id,
        "is_ready_to_publish": True,
        "places_taken": study.taken,
        "number_of_submissions": len(study.submissions),
        "total_cost": wallet.minor(wallet.place_price(study).total * study.places),
        "currency_code": state.currency,
        "date_created": study.created_at,
        "published_at": study.published_at,
        "workspace": state.workspace_id,
        "researcher": {"id": state.user_id, "name": "Emulated Researcher"},
    }


ACTIONS: Mapping[Action, tuple[tuple[str, ...], Callable[[State, Study], None]]] = {
    "PUBLISH": (("UNPUBLISHED",), publish),
    "SCHEDULE_PUBLISH": (("UNPUBLISHED",), lambda state, study: set_study_status(state, study, "SCHEDULED")),
    "CANCEL_PUBLISH": (("SCHEDULED",), lambda state, study: set_study_status(state, study, "UNPUBLISHED")),
    "PAUSE": (("ACTIVE",), lambda state, study: set_study_status(state, study, "PAUSED")),
    "START": (("PAUSED",), resume),
    "STOP": (("ACTIVE", "PAUSED"), stop),
}
