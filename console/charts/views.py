"""The results of a round, and the charts of rounds, versions and pools: where they are, their files, counting again."""

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from console.charts.chart_jobs import start_charts
from console.charts.plots import CHARTED, OFFERED, Charted, annotators_of, offered, stored_chart
from console.permissions import StaffRequest, members_only, researchers_only
from console.places import show
from console.rounds.figures import worth_of
from console.rounds.schemas import round_or_404
from console.rounds.vote_orders import orders_of
from evaluation.analyses import csv_text
from mitl.charts.drawing import chart_bytes

TYPES = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf", "csv": "text/csv"}
PLACES = {"round": "round_results", "version": "version_trust", "pool": "pool"}
"""Kind of thing → URL name of the page that shows its charts."""


@members_only.reads("rounds/<slug:name>/results/")
def round_results(request: HttpRequest, name: str) -> HttpResponse:
    """What a round says: how sure its verdicts are, its counts of votes, and its charts; ``?show=`` chooses one."""
    found = round_or_404(name)
    aggregations = list(found.aggregations.all())
    context = {
        "aggregations": aggregations,
        "worth": worth_of(aggregations[0]) if aggregations else None,
        "orders": orders_of(found),
    }
    return show(request, "console/charts/results.html", found, context)


@members_only.reads("charts/<str:kind>/<slug:name>/<slug:subject>/")
def chart(request: HttpRequest, kind: str, name: str, subject: str) -> HttpResponse:
    """Lead to a chart on the page of its thing."""
    _charted_or_404(kind, name, subject)
    return redirect(_place_of(kind, name, show=subject, annotator=_annotator(request, subject)))


@researchers_only.acts("charts/<str:kind>/<slug:name>/measure")
def chart_measure(request: StaffRequest, kind: str, name: str) -> HttpResponse:
    """Start the job that counts charts again, or those of an annotator, and come back."""
    charted: Charted = get_object_or_404(CHARTED.get(kind, CHARTED["pool"].none()), name=name)
    subject = request.POST.get("show", "")
    annotator = _annotator(request, subject)
    start_charts(kind, charted, annotator, by=request.user)
    return redirect(_place_of(kind, name, show=subject, annotator=annotator))


@members_only.reads("charts/<str:kind>/<slug:name>/<slug:subject>.<str:form>")
def chart_file(request: HttpRequest, kind: str, name: str, subject: str, form: str) -> HttpResponse:
    """A chart as SVG, PNG or PDF on white ground, or its figures as CSV, as it was made last."""
    charted = _charted_or_404(kind, name, subject)
    annotator = _annotator(request, subject)
    made = stored_chart(charted, subject, annotator)
    if form not in TYPES or made is None or not made["drawing"]:
        raise Http404
    body = csv_text(made["rows"]) if form == "csv" else chart_bytes(made["drawing"], f".{form}")
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


def _annotator(request: HttpRequest, subject: str) -> str:
    """Return the annotator that was asked for, or the first; empty for a chart of no single annotator."""
    names = annotators_of(subject)
    asked = request.POST.get("annotator") or request.GET.get("annotator")
    if asked and asked not in names:
        raise Http404
    return asked or (names[0] if names else "")


def _place_of(kind: str, name: str, **chosen: str) -> str:
    query = urlencode({key: value for key, value in chosen.items() if value})
    return f"{reverse(PLACES[kind], args=[name])}?{query}#charts"
