"""The charts of rounds, versions and pools: a page each, and files to download."""

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.cache import never_cache

from annotation.money.wages import was_played
from console.charts.plots import (
    CHARTED,
    OF_ANNOTATORS,
    OFFERED,
    PLOTS,
    Charted,
    offered,
    parameters_of_chart,
    state_of,
    stored_chart,
    table_of,
)
from console.jobs import jobs_of_chart, start_chart
from console.permissions import StaffRequest, members_only, researchers_only
from core.models import Job
from dataset.models import Version
from dataset.secret_controls import has_role
from evaluation.analyses import csv_text
from hits.models import Round
from mitl.charts.drawing import chart_bytes
from mitl.models import Annotator

TYPES = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf", "csv": "text/csv"}


@members_only.reads
def chart(request: StaffRequest, kind: str, name: str, subject: str) -> HttpResponse:
    """A chart with the figures behind it, its files, and the command that says the same; ``?annotator=`` chooses one
    where it is of one. Where its data changed since, a visit of a researcher or reviewer starts a job that makes a new
    one."""
    charted = _charted_or_404(kind, name, subject)
    annotators = _annotators(subject)
    context = _part(request, kind, charted, subject) | {
        "simulated": _has_simulated(charted),
        "tabs": [(one, PLOTS[one].title) for one in offered(kind, charted)],
        "annotators": annotators,
    }
    is_wanted = not (context["chart"] and context["chart"].is_current) and not context["stopped"]
    # A chart of an annotator opens a network: a person starts its job with the button.
    if is_wanted and has_role(request.user) and subject not in OF_ANNOTATORS:
        context["job"] = start_chart(kind, charted, subject, context["annotator"], by=request.user)
    return render(request, "console/charts/chart.html", context)


@members_only.reads
@never_cache
def chart_live(request: HttpRequest, kind: str, name: str, subject: str) -> JsonResponse:
    """Polled by live.js while a job makes the chart: whether it still does, and the part of the page with the chart."""
    context = _part(request, kind, _charted_or_404(kind, name, subject), subject)
    html = render_to_string("console/charts/_chart.html", context, request)
    return JsonResponse({"live": bool(context["job"] and context["job"].is_live), "html": html})


def _part(request: HttpRequest, kind: str, charted: Charted, subject: str) -> dict[str, Any]:
    """Return the chart as it was made last and its job; the job has ``stopped`` where it failed on the same data."""
    plot = PLOTS[subject]
    annotators = _annotators(subject)
    annotator = _annotator(request, annotators)
    made = stored_chart(charted, subject, annotator)
    job = jobs_of_chart(kind, charted, subject, annotator).first()
    ended_badly = (Job.State.FAILED, Job.State.CANCELLED)
    options = parameters_of_chart(charted, subject, annotator).as_options()
    context: dict[str, Any] = {
        "kind": kind,
        "charted": charted,
        "subject": subject,
        "forms": list(TYPES),
        "plot": plot,
        "annotator": annotator,
        "chosen": f"?{urlencode({'annotator': annotator})}" if annotator else "",
        "command": f"python manage.py analyse {subject} {options}",
        "chart": made,
        "job": job,
        "stopped": job and job.state in ended_badly and job.params.get("state") == state_of(charted, subject),
        "can_measure": bool(annotator) or subject not in OF_ANNOTATORS,
    }
    if made and made.drawing:
        context["heads"], context["rows"] = table_of(made.rows)
    return context


@researchers_only.acts
def chart_measure(request: StaffRequest, kind: str, name: str, subject: str) -> HttpResponse:
    """Start the job that makes a chart: of an annotator, or again after it failed."""
    charted = _charted_or_404(kind, name, subject)
    annotator = _annotator(request, _annotators(subject))
    if subject in OF_ANNOTATORS and not annotator:
        raise Http404
    start_chart(kind, charted, subject, annotator, by=request.user)
    return redirect(f"{reverse('chart', args=[kind, name, subject])}?{urlencode({'annotator': annotator})}")


@members_only.reads
def chart_file(request: HttpRequest, kind: str, name: str, subject: str, form: str) -> HttpResponse:
    """A chart as SVG, PNG or PDF on white ground, or its figures as CSV, as it was made last."""
    charted = _charted_or_404(kind, name, subject)
    annotator = _annotator(request, _annotators(subject))
    made = stored_chart(charted, subject, annotator)
    if form not in TYPES or made is None or not made.drawing:
        raise Http404
    body = csv_text(made.rows) if form == "csv" else chart_bytes(made.drawing, f".{form}")
    named = "-".join(filter(None, [charted.name, subject, annotator]))
    attached = {"Content-Disposition": f'attachment; filename="{named}.{form}"'}
    return HttpResponse(body, content_type=TYPES[form], headers=attached)


def _charted_or_404(kind: str, name: str, subject: str) -> Charted:
    if subject not in OFFERED.get(kind, ()):
        raise Http404
    charted: Charted = get_object_or_404(CHARTED[kind], name=name)
    if subject not in offered(kind, charted):
        raise Http404
    return charted


def _has_simulated(charted: Charted) -> bool:
    """Whether programs gave some of the answers behind it."""
    if isinstance(charted, Version):
        return bool(charted.manifest["counts"]["simulated_votes"])
    return isinstance(charted, Round) and was_played(charted)


def _annotators(subject: str) -> list[str]:
    """Return the annotators that the chart can be of; none where it is of no single one."""
    kinds = OF_ANNOTATORS.get(subject, ())
    return list(Annotator.objects.filter(kind__in=kinds).values_list("name", flat=True)) if kinds else []


def _annotator(request: HttpRequest, names: list[str]) -> str:
    """Return the annotator that was asked for, or the first."""
    asked = request.POST.get("annotator") or request.GET.get("annotator")
    if asked and asked not in names:
        raise Http404
    return asked or (names[0] if names else "")
