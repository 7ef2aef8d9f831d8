"""Bodies of requests, written from the documentation: unknown fields, wrong types and missing fields are refused."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from inspect import signature
from math import ceil, sqrt
from typing import Annotated, Any, Literal, Self, TypeVar, get_type_hints

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    create_model,
    field_validator,
    model_validator,
)

from counterpart_emulators.prolific.errors import ProlificError

Text = Annotated[str, StringConstraints(min_length=1)]
Count = Annotated[int, Field(ge=1)]
Item = TypeVar("Item")
Some = Annotated[list[Item], Field(min_length=1)]
OF_FAULTS = ("seconds",)
LONGEST = 1439  # minutes; a submission takes less than a day

FILTERS = {
    "participant_group_allowlist": "Participants of these groups",
    "participant_group_blocklist": "Participants outside these groups",
    "previous_studies_allowlist": "Participants of these studies",
    "previous_studies_blocklist": "Participants who did not take these studies",
    "custom_allowlist": "These participants",
    "custom_blocklist": "All but these participants",
    "approval_rate": "Approval rate",
}
RANGES = ("approval_rate",)


class Body(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class Review(Body):
    action: Literal["AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW", "DYNAMIC_PAYMENT"]


class RequestReturn(Body):
    action: Literal["REQUEST_RETURN"]
    return_reason: Text


class ChangeGroup(Body):
    action: Literal["ADD_TO_PARTICIPANT_GROUP", "REMOVE_FROM_PARTICIPANT_GROUP"]
    participant_group: Text


class ScreenOut(Body):
    action: Literal["FIXED_SCREEN_OUT_PAYMENT"]
    fixed_screen_out_reward: Count
    slots: Count


class CompletionCode(Body):
    code: Text
    code_type: Literal[
        "COMPLETED", "FAILED_ATTENTION_CHECK", "FOLLOW_UP_STUDY", "GIVE_BONUS", "INCOMPATIBLE_DEVICE", "NO_CONSENT",
        "OTHER", "FIXED_SCREENOUT", "SCREENED_IN", "SCREENED_OUT",
    ]  # fmt: skip
    actor: Literal["participant", "researcher"] = "participant"
    actions: list[Annotated[Review | RequestReturn | ChangeGroup | ScreenOut, Field(discriminator="action")]]

    @model_validator(mode="after")
    def _actions_agree(self) -> Self:
        named = {each.action for each in self.actions}
        if {"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW"} <= named:
            raise ValueError("AUTOMATICALLY_APPROVE and MANUALLY_REVIEW cannot be used together")
        if "DYNAMIC_PAYMENT" in named and self.actor != "researcher":
            raise ValueError("DYNAMIC_PAYMENT needs the actor researcher")
        return self


class AccessDetail(Body):
    external_url: Text
    total_allocation: Count


class Range(Body):
    lower: float | None = None
    upper: float | None = None


class Filter(Body):
    filter_id: str
    selected_values: list[str] | None = None
    selected_range: Range | None = None

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.filter_id not in FILTERS:
            raise ValueError(f"{self.filter_id} is not a filter; GET filters/ lists them")
        is_range = self.filter_id in RANGES
        if (self.selected_range is None) == is_range or (self.selected_values is None) != is_range:
            raise ValueError(f"{self.filter_id} needs {'selected_range' if is_range else 'selected_values'} alone")
        return self


class SubmissionsConfig(Body):
    max_submissions_per_participant: int | None = Field(default=1, ge=-1)
    max_concurrent_submissions: int | None = Field(default=-1, ge=-1)
    auto_rejection_categories: list[Literal["EXCEPTIONALLY_FAST"]] = []


class NewStudy(Body):
    name: Text
    description: Text
    external_study_url: Text | None = None
    access_details: list[AccessDetail] | None = None
    prolific_id_option: Literal["url_parameters", "question", "not_required"]
    completion_codes: Some[CompletionCode]
    total_available_places: Count
    estimated_completion_time: float = Field(gt=0)
    maximum_allowed_time: float | None = Field(default=None, gt=0, le=LONGEST)
    reward: Count
    project: Text | None = None
    internal_name: str | None = None
    metadata: str | None = None
    publish_at: datetime | None = None
    device_compatibility: list[Literal["desktop", "tablet", "mobile"]] = []
    peripheral_requirements: list[Literal["audio", "camera", "download", "microphone"]] = []
    filters: list[Filter] | None = None
    submissions_config: SubmissionsConfig = SubmissionsConfig()
    study_labels: Annotated[list[Text], Field(max_length=1)] = []
    is_external_study_url_secure: Literal[False] = False

    @field_validator("completion_codes")
    @classmethod
    def _codes_differ(cls, codes: list[CompletionCode]) -> list[CompletionCode]:
        if repeated := [code for code, count in Counter(each.code for each in codes).items() if count > 1]:
            raise ValueError(f"the code {repeated[0]} is not unique in the study")
        return codes


AFTER_PUBLICATION = ("internal_name", "total_available_places", "access_details", "submissions_config")
_CHANGES: dict[str, Any] = {name: (field.annotation, None) for name, field in NewStudy.model_fields.items()}
StudyChange = create_model("StudyChange", __base__=Body, **_CHANGES)


class CompletionCodeData(Body):
    percentage_of_reward: float = Field(ge=8, le=99)
    message_to_participant: Text | None = None


Category = Literal[
    "TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK", "LOW_EFFORT",
    "MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA", "UNSUPP_DEVICE", "OTHER",
]  # fmt: skip


def schema_of(act: Callable[..., Any], *, path: str) -> type[Body]:
    """Return the schema of an act's body: its arguments without the ids in the path and those that faults set."""
    hints = get_type_hints(act, include_extras=True)
    fields: dict[str, Any] = {
        name: (hints[name], ... if parameter.default is parameter.empty else parameter.default)
        for name, parameter in signature(act).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and f"<{name}>" not in path and name not in OF_FAULTS
    }
    return create_model(act.__name__, __base__=Body, **fields)


def read_body(schema: type[Body], sent: bytes | dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a JSON body or an object: of a change to a study only those given.

    Raises ProlificError by field.
    """
    try:
        body = schema.model_validate(sent) if isinstance(sent, dict) else schema.model_validate_json(sent or b"{}")
    except ValidationError as error:
        detail: dict[str, list[str]] = {}
        for each in error.errors(include_url=False, include_input=False):
            field, *below = [str(part) for part in each["loc"]] or ["non_field_errors"]
            detail.setdefault(field, []).append(": ".join([*([".".join(below)] if below else []), each["msg"]]))
        raise ProlificError(detail) from error
    return body.model_dump(exclude_unset=schema is StudyChange)


def shortest_limit(minutes: float) -> int:
    """Return the least maximum_allowed_time (minutes) of a study with this estimated time."""
    return ceil(2 + 2 * minutes + 2 * sqrt(minutes))
