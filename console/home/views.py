"""The home page, and background jobs with their live progress."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.views.decorators.cache import never_cache

from console.home.cards import OPEN, newest_result, round_cards
from console.home.needs import needs_of_all_rounds
from console.home.outcomes import LOADING, SEARCHING, JobLink, outcome_of, usual_time
from console.home.resources import JobAnswer
from console.permissions import StaffRequest, members_only, researchers_only
from console.rounds.next_steps import next_step_of_site
from console.upload_jobs import look_at_import
from core import clock
from core.models import Job
from core.work.jobs import LIVE, STALE_AFTER, cancel, stale_jobs
from corpus.models import Collection


@members_only.reads("")
def home(request: StaffRequest) -> HttpResponse:
    """The needs of the user, the newest result and the open rounds; an introduction on an empty site."""
    context: dict[str, Any] = {
        "needs": needs_of_all_rounds(request.user),
        "jobs": Job.objects.filter(state__in=LIVE)[:10],
    }
    if not Collection.objects.exists():
        return render(request, "console/home/welcome.html", context)
    context |= {**_rounds(), "next_step": next_step_of_site(request.user), "result": newest_result()}
    return render(request, "console/home/home.html", context)


@members_only.reads("live/")
@never_cache
def home_live(request: StaffRequest) -> JsonResponse:
    """Polled by live.js: whether a round is open, and the cards."""
    context = _rounds()
    html = render_to_string("console/home/_round_cards.html", context, request)
    return JsonResponse({"live": bool(context["cards"]), "html": html})


def _rounds() -> dict[str, Any]:
    cards = round_cards()
    return {"cards": cards, "further": OPEN.count() - len(cards)}


UNTOUCHED_FOR = timedelta(seconds=8)  # and a second or two until the page asks


@members_only.reads("jobs/<uuid:job_id>/")
def job(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """A job and its progress. ``?follow=`` redirects to its outcome once it is done."""
    job = _job_or_404(job_id)
    context = _context(job)
    outcome = context["outcome"]
    if "follow" in request.GET and job.state == Job.State.DONE and isinstance(outcome, JobLink):
        if job.task != look_at_import.name:  # its page begins with the same
            messages.success(request, job.message)
        return redirect(outcome.url)
    context |= {"follows": "follow" in request.GET, "answer": JobAnswer.model_validate(job)}
    return render(request, "console/home/job.html", context)


@members_only.reads("jobs/<uuid:job_id>/progress/")
@never_cache
def job_progress(request: HttpRequest, job_id: UUID) -> JsonResponse:
    """Polled by live.js every second: whether the job is live, and its part of the page."""
    job = _job_or_404(job_id)
    html = render_to_string("console/home/_job_progress.html", _context(job), request)
    return JsonResponse({"live": job.is_live, "html": html})


@researchers_only.acts("jobs/<uuid:job_id>/cancel/")
def job_cancel(request: StaffRequest, job_id: UUID) -> HttpResponse:
    job = _job_or_404(job_id)
    if not cancel(job, actor=request.user.get_username()):
        messages.info(request, "This job has already ended.")
    return redirect("job", job_id)


def _job_or_404(job_id: UUID) -> Job:
    return get_object_or_404(Job.objects.select_related("created_by"), pk=job_id)


def _context(job: Job) -> dict[str, object]:
    silence = clock.now() - job.heartbeat_at
    waits = job.state == Job.State.QUEUED and silence > UNTOUCHED_FOR
    is_lost = job.state == Job.State.RUNNING and silence > STALE_AFTER
    usual = usual_time(job) if job.is_live else None
    busy = waits and Job.objects.filter(state=Job.State.RUNNING).exclude(pk__in=stale_jobs()).exists()
    return {
        "job": job,
        "no_worker": waits and not busy,
        "is_lost": is_lost,
        "busy": busy,
        "usual": usual and usual.total_seconds(),
        "compiles": job.task in SEARCHING and usual is None,
        "outcome": outcome_of(job),
        "load_again": job.task == LOADING and job.state in (Job.State.FAILED, Job.State.CANCELLED),
    }
