"""The token of a call, and jobs: their progress, and cancelling them."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Schema

from console.api.bearer import ApiRequest
from console.api.keysets import Place, part_of
from console.api.operations import Resources
from console.api.problems import Problem
from console.api.row_fields import address
from core.models import Job
from core.work.jobs import cancel

resources = Resources("Jobs")
RETRY_AFTER = "2"  # seconds


class Me(Schema):
    """The account and the token of a call."""

    user: str
    token: str
    scopes: list[str]
    expires_at: datetime


class JobAnswer(Schema):
    """Long work: ``done`` of ``total`` counts the current ``step``; ``message`` is the outcome, or why it failed."""

    id: UUID
    url: Annotated[str, Field(validation_alias="pk"), address("job")]
    title: str
    state: Job.State
    step: str
    done: int
    total: int | None
    message: str
    created_at: datetime
    finished_at: datetime | None


@resources.reads("/me", None, Me)
def me(request: ApiRequest) -> dict[str, object]:
    """Describe the token of the call: its owner, its scopes and when it expires."""
    token = request.token
    owner = token.owner.get_username()
    return {"user": owner, "token": token.name, "scopes": token.scopes, "expires_at": token.expires_at}


@resources.lists("/jobs", "jobs:read", JobAnswer, "A part of the list of jobs, the latest first.")
def jobs(request: ApiRequest, place: Query[Place], state: Job.State | None = None) -> dict[str, object]:
    """List the jobs, the latest first."""
    rows: QuerySet[Job] = Job.objects.filter(state=state) if state else Job.objects.all()
    return part_of(rows, place, newest="created_at")


@resources.reads("/jobs/{uuid:id}", "jobs:read", JobAnswer, url_name="job")
def job(request: ApiRequest, id: UUID, response: HttpResponse) -> Job:
    """Describe a job and its progress. While it is not over, Retry-After says when to ask again."""
    job = get_object_or_404(Job, pk=id)
    if job.is_live:
        response["Retry-After"] = RETRY_AFTER
    return job


@resources.acts("/jobs/{uuid:id}/cancel", "jobs:write", JobAnswer)
def cancel_job(request: ApiRequest, id: UUID) -> Job:
    """Ask a job to stop at its next safe point. What it has done so far stays."""
    job = get_object_or_404(Job, pk=id)
    if not cancel(job, actor=request.user.get_username()):
        raise Problem(409, f"The job has already ended: it is {job.state}.")
    return Job.objects.get(pk=id)
