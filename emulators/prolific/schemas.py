"""Bodies of requests, written from the documentation: unknown fields, wrong types and missing fields are refused."""

from collections import Counter
from datetime import datetime
from math import ceil, sqrt
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_validator, model_validator

from emulators.prolific.errors import ProlificError

Text = Annotated[str, StringConstraints(min_length=1)]
LONGEST = 1439  # minutes; a submission takes less than a day
REASON = 100  # characters that a rejection's message has at least

FILTERS = {
    "participant_group_allowlist": "Participants of these groups",
    "participant_group_blocklist": "Participants outside these groups",
    "previous_studies_allowlist": "Participants of these studies",
    "previous_studies_blocklist": "Participants who took none of these studies",
    "custom_allowlist": "These participants",
    "custom_blocklist": "All but these participants",
    "approval_rate": "Approval rate",
}
RANGES = ("approval_rate",)


class Body(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class Nothing(Body):
    """No body, or an empty object."""


class Review(Body):
    action: Literal["AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW", "DYNAMIC_PAYMENT"]


class RequestReturn(Body):
    action: Literal["REQUEST_RETURN"]
    return_reason: Text


class Group(Body):
    action: Literal["ADD_TO_PARTICIPANT_GROUP", "REMOVE_FROM_PARTICIPANT_GROUP"]
    participant_group: Text


class ScreenOut(Body):
    action: Literal["FIXED_SCREEN_OUT_PAYMENT"]
    fixed_screen_out_reward: int = Field(ge=1)
    slots: int = Field(ge=1)


class CompletionCode(Body):
    code: Text
    code_type: Literal[
        "COMPLETED", "FAILED_ATTENTION_CHECK", "FOLLOW_UP_STUDY", "GIVE_BONUS", "INCOMPATIBLE_DEVICE", "NO_CONSENT",
        "OTHER", "FIXED_SCREENOUT", "SCREENED_IN", "SCREENED_OUT",
    ]  # fmt: skip
    actor: Literal["participant", "researcher"] = "participant"
    actions: list[Annotated[Review | RequestReturn | Group | ScreenOut, Field(discriminator="action")]]

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
    total_allocation: int = Field(ge=1)


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
            raise ValueError(f"{self.filter_id} is no filter; GET filters/ lists them")
        is_range = self.filter_id in RANGES
        if (self.selected_range is None) == is_range or (self.selected_values is None) != is_range:
            raise ValueError(f"{self.filter_id} needs {'selected_range' if is_range else 'selected_values'} alone")
        return self


class SubmissionsConfig(Body):
    max_submissions_per_participant: int | None = Field(default=1, ge=-1)
    max_concurrent_submissions: int | None = Field(default=-1, ge=-1)
    auto_rejection_categories: list[Literal["EXCEPTIONALLY_FAST"]] = []


class PublishedChange(Body):
    """What can be changed on a published study."""

    internal_name: str | None = None
    total_available_places: Annotated[int, Field(ge=1)] | None = None
    access_details: list[AccessDetail] | None = None
    submissions_config: SubmissionsConfig | None = None


class DraftChange(PublishedChange):
    """What can be changed on a draft."""

    name: Text | None = None
    description: Text | None = None
    external_study_url: Text | None = None
    prolific_id_option: Literal["url_parameters", "question", "not_required"] | None = None
    completion_codes: list[CompletionCode] | None = Field(default=None, min_length=1)
    estimated_completion_time: float | None = Field(default=None, gt=0)
    maximum_allowed_time: float | None = Field(default=None, gt=0, le=LONGEST)
    reward: Annotated[int, Field(ge=1)] | None = None
    project: Text | None = None
    metadata: str | None = None
    publish_at: datetime | None = None
    device_compatibility: list[Literal["desktop", "tablet", "mobile"]] = []
    peripheral_requirements: list[Literal["audio", "camera", "download", "microphone"]] = []
    filters: list[Filter] | None = None
    study_labels: Annotated[list[Text], Field(max_length=1)] = []
    is_external_study_url_secure: Literal[False] = False

    @field_validator("completion_codes")
    @classmethod
    def _codes_differ(cls, codes: list[CompletionCode] | None) -> list[CompletionCode] | None:
        if repeated := [code for code, count in Counter(each.code for each in codes or []).items() if count > 1]:
            raise ValueError(f"the code {repeated[0]} is not unique in the study")
        return codes


class NewStudy(DraftChange):
    name: Text
    description: Text
    prolific_id_option: Literal["url_parameters", "question", "not_required"]
    completion_codes: list[CompletionCode] = Field(min_length=1)
    total_available_places: int = Field(ge=1)
    estimated_completion_time: float = Field(gt=0)
    reward: int = Field(ge=1)
    submissions_config: SubmissionsConfig = SubmissionsConfig()


class StudyTransition(Body):
    action: Literal["PUBLISH", "SCHEDULE_PUBLISH", "CANCEL_PUBLISH", "PAUSE", "START", "STOP"]
    publish_at: datetime | None = None


class CompletionCodeData(Body):
    percentage_of_reward: float = Field(ge=8, le=99)
    message_to_participant: Text | None = None


class SubmissionTransition(Body):
    action: Literal["APPROVE", "REJECT", "COMPLETE"]
    message: str | None = None
    rejection_category: (
        Literal[
            "TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK", "LOW_EFFORT",
            "MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA", "UNSUPP_DEVICE", "OTHER",
        ] | None
    ) = None  # fmt: skip
    completion_code: str | None = None
    completion_code_data: CompletionCodeData | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.action == "REJECT" and len(self.message or "") < REASON:
            raise ValueError(f"REJECT needs a message of at least {REASON} characters")
        if self.action == "REJECT" and self.rejection_category is None:
            raise ValueError("REJECT needs a rejection_category")
        if self.action == "COMPLETE" and not self.completion_code:
            raise ValueError("COMPLETE needs a completion_code")
        return self


class ReturnRequest(Body):
    request_return_reasons: list[Text] = Field(min_length=1)


class BulkApproval(Body):
    submission_ids: list[str] | None = None
    study_id: str | None = None
    participant_ids: list[str] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        by_participant = self.study_id is not None and self.participant_ids is not None
        if by_participant == (self.submission_ids is not None):
            raise ValueError("give either submission_ids, or study_id and participant_ids")
        return self


class Cost(Body):
    reward: int = Field(ge=1)
    total_available_places: int = Field(ge=1)


class Bonuses(Body):
    study_id: str
    csv_bonuses: Text


class Message(Body):
    recipient_id: str
    body: Text
    study_id: str


class BulkMessage(Body):
    ids: list[str] = Field(min_length=1)
    body: Text
    study_id: str


class Project(Body):
    title: Text
    description: str = ""


class NewGroup(Body):
    name: Text
    workspace_id: str
    description: str = ""


class Members(Body):
    participant_ids: list[str]


class Workspace(Body):
    workspace_id: str


class Subscription(Body):
    workspace_id: str
    event_type: str
    target_url: Text


class Confirmation(Body):
    secret: str


class SubscriptionChange(Body):
    event_type: str | None = None
    target_url: Text | None = None
    is_enabled: bool | None = None


def read_body(schema: type[Body], sent: bytes) -> dict[str, Any]:
    """Return the fields of a JSON body that were given, and all of a new thing's. Raises ProlificError by field."""
    try:
        body = schema.model_validate_json(sent or b"{}")
    except ValidationError as error:
        detail: dict[str, list[str]] = {}
        for each in error.errors(include_url=False, include_input=False):
            field, *below = [str(part) for part in each["loc"]] or ["non_field_errors"]
            detail.setdefault(field, []).append(": ".join([*([".".join(below)] if below else []), each["msg"]]))
        raise ProlificError(detail) from error
    changes = issubclass(schema, PublishedChange | SubscriptionChange) and not issubclass(schema, NewStudy)
    return body.model_dump(mode="json", exclude_unset=changes)


def shortest_limit(minutes: float) -> int:
    """Return the least maximum_allowed_time (minutes) of a study with this estimated time."""
    return ceil(2 + 2 * minutes + 2 * sqrt(minutes))
