"""What the emulator answers to the channel has the shapes that Prolific's description gives: the fields that are
documented, of the documented types. The shapes are written from the description, not taken from the emulator."""

import re
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, TypeVar

import httpx
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from pydantic import BaseModel, Field, TypeAdapter, create_model

from annotation.money.payments import owe_bonus
from annotation.people.workers import exclude, readmit
from annotation.review.decisions import decide, reject
from crowd.messages import request_return, write_to
from crowd.posting.publication import close_round
from tests.crowd.platform import sync
from tests.crowd.prolific_rehearsal import published

Id = Annotated[str, Field(pattern="^[0-9a-f]{24}$")]
Minor = Annotated[int, Field(strict=True, ge=0)]
Row = TypeVar("Row")

StudyStatus = Literal["UNPUBLISHED", "SCHEDULED", "PUBLISHING", "ACTIVE", "PAUSED", "AWAITING REVIEW", "COMPLETED"]
Status = Literal[
    "RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED", "PARTIALLY APPROVED", "REJECTED", "RETURNED", "TIMED-OUT",
    "SCREENED OUT", "PROCESSING",
]  # fmt: skip


def shape(of: type[BaseModel] = BaseModel, **fields: Any) -> type[BaseModel]:
    """A model with these fields beside those of ``of``, none of them optional."""
    return create_model("Shape", __base__=of, **{name: (kind, ...) for name, kind in fields.items()})


Titled = shape(id=Id, title=str)
Balance = shape(currency_code=str, total_balance=Minor, available_balance=Minor)
Code = shape(code=str, code_type=str, actor=Literal["participant", "researcher"], actions=list[dict[str, Any]])
ListedStudy = shape(
    id=Id, name=str, internal_name=str | None, status=StudyStatus, total_available_places=Minor, places_taken=Minor,
    reward=Minor, date_created=datetime,
)  # fmt: skip
Study = shape(
    ListedStudy, external_study_url=str, prolific_id_option=Literal["url_parameters"], completion_codes=list[Code],
    estimated_completion_time=float, maximum_allowed_time=float, device_compatibility=list[str],
    submissions_config=dict[str, Any], published_at=datetime | None,
)  # fmt: skip
Cost = shape(total_cost=Minor)
Amount = shape(amount=Minor, currency=str)
Parts = shape(rewards=Amount, fees=Amount, tax=Amount)
CostOfStudy = shape(rewards=Parts, bonuses=Parts)
Times = shape(id=Id, status=Status, started_at=datetime, completed_at=datetime | None)
ListedSubmission = shape(Times, participant_id=Id, study_code=str | None)
Submission = shape(Times, participant=Id, study_id=Id, entered_code=str | None)
SubmissionInFull = shape(Submission, bonus_payments=list[Minor], return_requested=datetime | None)
Returned = shape(id=Id, status=Status, participant=Id, return_requested=datetime)
Bonuses = shape(id=Id, study=Id, amount=Minor, fees=Minor, vat=Minor, total_amount=Minor)
Filter = shape(filter_id=str)
Group = shape(id=Id, name=str, workspace_id=Id)
Member = shape(participant_id=Id, datetime_created=datetime)
Secret = shape(id=Id, value=str, workspace_id=Id)
Subscription = shape(id=Id, event_type=str, target_url=str, is_enabled=bool, workspace_id=Id)
Link = shape(href=str | None)


class Rows(BaseModel, Generic[Row]):
    results: list[Row]


class Pages(Rows[Row], Generic[Row]):
    links: dict[Literal["self", "next", "previous", "last"], Link] = Field(alias="_links")  # type: ignore[valid-type]


ID = "[0-9a-f]{24}"
SHAPES: dict[tuple[str, str], Any] = {
    ("GET", "workspaces/"): Pages[Titled],
    ("GET", f"workspaces/{ID}/balance/"): Balance,
    ("GET", f"workspaces/{ID}/projects/"): Pages[Titled],
    ("POST", f"workspaces/{ID}/projects/"): Titled,
    ("POST", "study-cost-calculator/"): Cost,
    ("GET", "filters/"): Rows[Filter],
    ("GET", "studies/"): Pages[ListedStudy],
    ("POST", "studies/"): Study,
    ("GET", f"studies/{ID}/"): Study,
    ("PATCH", f"studies/{ID}/"): Study,
    ("POST", f"studies/{ID}/transition/"): Study,
    ("GET", f"studies/{ID}/cost/"): CostOfStudy,
    ("GET", "submissions/"): Pages[ListedSubmission],
    ("GET", f"submissions/{ID}/"): SubmissionInFull,
    ("POST", f"submissions/{ID}/transition/"): Submission,
    ("POST", f"submissions/{ID}/request-return/"): Returned,
    ("POST", "submissions/bonus-payments/"): Bonuses,
    ("POST", f"bulk-bonus-payments/{ID}/pay/"): str,
    ("GET", "participant-groups/"): Pages[Group],
    ("POST", "participant-groups/"): Group,
    ("POST", f"participant-groups/{ID}/participants/"): Rows[Member],
    ("DELETE", f"participant-groups/{ID}/participants/"): Rows[Member],
    ("POST", "messages/bulk/"): None,
    ("POST", "hooks/secrets/"): Secret,
    ("GET", "hooks/subscriptions/"): Rows[Subscription],
    ("POST", "hooks/subscriptions/"): Subscription,
    ("POST", f"hooks/subscriptions/{ID}/"): Subscription,
    ("DELETE", f"hooks/subscriptions/{ID}/"): None,
}


Detail = shape(status=int, error_code=int, title=str, detail=str | list[str] | dict[str, list[str]])
Wrapped = shape(error=Detail)


@pytest.fixture
def replies(monkeypatch) -> list[httpx.Response]:
    """All that Prolific answers."""
    heard, request = [], httpx.Client.request

    def listening(self, *args, **options):
        reply = request(self, *args, **options)
        heard.append(reply)
        return reply

    monkeypatch.setattr(httpx.Client, "request", listening)
    return heard


def met(reply: httpx.Response) -> tuple[str, str]:
    """Return which call a reply is of."""
    path = reply.request.url.path.removeprefix("/api/v1/")
    return next(call for call in SHAPES if call[0] == reply.request.method and re.fullmatch(call[1], path))


def test_every_answer_to_a_round_has_its_documented_shape(rehearsal, commit, settings, replies):
    settings.SITE_URL = "http://127.0.0.1:9"
    robin = User.objects.create(username="robin")
    made = published(hits=3, commit=commit)
    call_command("subscribe_hooks"), call_command("subscribe_hooks")
    with commit(execute=True):
        good, bad, worse = rehearsal.work(), rehearsal.work(wrong=True), rehearsal.work(wrong=True)
    sync(made, commit)
    with commit(execute=True):
        decide(bad, votes_count=False, paid=True, reason="The controls failed.", by=robin)
        worse.refresh_from_db()
        request_return(worse, reason="Please return it.", by="robin")
        reject(worse, grounds="random", reason="Every answer is the same. " * 5, evidence="All ones.", by=robin)
        owe_bonus(good, amount=Decimal("0.50"), reason="Thank you.", actor="robin")
        write_to([good.worker], subject="Hello", text="Thank you.", by="robin")
        exclude(bad.worker, reason="x", by="robin")
    with commit(execute=True):
        readmit(bad.worker, by="robin")
    sync(made, commit)
    (
        call_command("pause", made.name),
        call_command("pause", made.name, resume=True),
        call_command("ledger", made.name, platform=True),
    )
    with commit(execute=True):
        close_round(made, actor="robin")
    sync(made, commit)
    for reply in replies:
        shape = SHAPES[met(reply)]
        assert reply.is_success, reply.text
        if shape is None:
            assert (reply.status_code, reply.content) == (204, b"")
        else:
            TypeAdapter(shape).validate_json(reply.content)
    assert SHAPES.keys() - {met(reply) for reply in replies} == set()


@pytest.mark.parametrize(
    ("path", "shape"), [("studies/" + "0" * 24 + "/", Wrapped), ("submissions/?study=" + "0" * 24, Detail)]
)
def test_errors_come_in_both_documented_shapes(rehearsal, path, shape):
    reply = httpx.get(
        f"{rehearsal.emulator.url}/api/v1/{path}", headers={"Authorization": f"Token {rehearsal.emulator.token}"}
    )
    assert reply.status_code == 404
    TypeAdapter(shape).validate_json(reply.content)
