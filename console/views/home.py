"""The first page: the pipeline, the work in progress, and what waits for a person."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.access import members_only
from console.needs import needs_of_all_rounds
from console.stations import stations
from core.models import Event, Job


@members_only
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    pipeline = stations()
    context = {
        "stations": pipeline,
        "next_step": next((station for station in pipeline if not station.count), None),
        "needs": needs_of_all_rounds(),
        "jobs": Job.objects.filter(state__in=(Job.State.QUEUED, Job.State.RUNNING))[:10],
        "events": Event.objects.all()[:8],
    }
    return render(request, "console/home.html", context)
