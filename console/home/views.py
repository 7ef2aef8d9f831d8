"""The home page, with cards of the newest result and the open rounds; and background jobs with their live progress."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.views.decorators.cache import never_cache

from annotation.work.standing import forecast_of, standings
from console.home.needs import needs_of_all_rounds
from console.home.outcomes import LOADING, SEARCHING, JobLink, outcome_of, usual_time
from console.home.resources import JobAnswer
from console.kept_figures import kept_if_slow
from console.permissions import StaffRequest, members_only, researchers_only
from console.rounds.figures import seat_bar
from console.rounds.next_steps import holds_of_page, next_step_of_site
from console.upload_jobs import look_at_import
from console.versions.story import METRIC, ranking_chart
from core import clock
from core.models import Job
from core.work.jobs import LIVE, STALE_AFTER, cancel, stale_jobs
from corpus.models import Collection, Image
from dataset.models import Version
from hits.models import Item, Round

OPEN = Round.objects.filter(published_at__isnull=False, closed_at=None)
CARDS = 6
PICTURES = 6
KEPT_SECONDS = 30  # a round's holds take a dozen queries


def newest_result() -> dict[str, Any] | None:
    """Return the version that was released last, its matches as the manifest counts them, and the change of the
    ranking; None before the first."""
    version = Version.objects.select_related("collection").first()
    if version is None:
        return None
    counts = {row["source"]: row for row in version.manifest["sources"]}
    ranking = ranking_chart(version)
    return {"version": version, "matches": counts.get(version.name, {}), "ranking": ranking, "metric": METRIC}


def round_cards() -> list[dict[str, Any]]:
    """Return the cards of the newest open rounds."""
    rounds = list(OPEN.order_by("-published_at")[:CARDS])
    names = "-".join(str(one.pk) for one in rounds)
    known = kept_if_slow(f"standings-of-rounds:{names}", partial(standings, rounds)).figures
    pictures = _pictures_of(rounds)
    cards = []
    for one in rounds:
        standing = known[one.pk]
        forecast = kept_if_slow(f"forecast-of-round:{one.pk}:{one.takes_workers}", partial(forecast_of, one, standing))
        holds = f"holds-on-home:{one.pk}:{one.takes_workers}:{one.ceiling}"
        cards.append(
            {
                "round": one,
                "standing": standing,
                "seats": seat_bar(standing),
                "forecast": forecast.figures,
                "holds": cache.get_or_set(holds, partial(holds_of_page, one, standing), KEPT_SECONDS),
                "pictures": pictures.get(one.pk, [])[:PICTURES],
            }
        )
    return cards


def _pictures_of(rounds: Sequence[Round]) -> dict[int, list[Image]]:
    """Return the pictures of each round's first HIT, by the round's id."""
    items = Item.objects.filter(hit__round__in=rounds, hit__number=1, image__isnull=False)
    by_round: dict[int, dict[int, Image]] = {}
    for item in items.select_related("hit", "image").order_by("place"):
        if item.image:
            by_round.setdefault(item.hit.round_id, {})[item.image.pk] = item.image
    return {key: list(images.values()) for key, images in by_round.items()}


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
