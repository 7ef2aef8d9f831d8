"""The charts of rounds, versions and pools: a page each, and files to download."""

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.wages import was_played
from console.measured_charts import stored_chart
from console.permissions import StaffRequest, members_only, researchers_only
from console.plots import (
    OF_ANNOTATORS,
    OFFERED,
    PLOTS,
    THINGS,
    Thing,
    csv_of,
    drawn,
    findings_of,
    needs_job,
    offered,
    table_of,
    words_of,
)
from console.tasks import start_chart
from core.errors import CounterpartError
from dataset.models import Version
from evaluation.analyses import Findings
from hits.models import Round
from mitl.charts import chart_bytes
from mitl.models import Annotator

TYPES = {"svg": "image/svg+xml", "png": "image/png", "csv": "text/csv"}


@members_only
@require_safe
def chart(request: HttpRequest, kind: str, name: str, subject: str) -> HttpResponse:
    """A chart with the figures behind it, its files, and the command that says the same; ``?annotator=`` chooses one
    where it is of one."""
    thing = _thing_or_404(kind, name, subject)
    plot, annotators = PLOTS[subject], _annotators(subject)
    annotator = _annotator(request, annotators)
    context: dict[str, object] = {
        "simulated": _has_simulated(thing),
        "kind": kind,
        "thing": thing,
        "subject": subject,
        "plot": plot,
        "tabs": [(one, PLOTS[one].title) for one in offered(kind, thing)],
        "annotators": annotators,
        "annotator": annotator,
        "chosen": f"?{urlencode({'annotator': annotator})}" if annotator else "",
        "command": f"python manage.py analyse {' '.join(words_of(thing, subject, annotator))}",
    }
    try:
        if needs_job(thing, subject):
            context["measured"] = measured = stored_chart(thing, subject, annotator)
            context["can_measure"] = bool(annotator) or subject not in OF_ANNOTATORS
            found = measured.findings if measured else None
        else:
            kept = findings_of(thing, subject)
            found, context["old_since"] = kept.figures, kept.old_since
        if found:
            heads, rows = table_of(found)
            context |= {"heads": heads, "rows": rows, "n_rows": len(found.rows)}
            context["svg"] = drawn(found.chart, f"{plot.title}: {plot.says} The table below has the figures.")
    except CounterpartError as error:
        context["trouble"] = str(error)
    return render(request, "console/chart.html", context)


@researchers_only
@require_POST
def chart_measure(request: StaffRequest, kind: str, name: str, subject: str) -> HttpResponse:
    """Start the job that measures a chart which takes long."""
    thing = _thing_or_404(kind, name, subject)
    annotator = _annotator(request, _annotators(subject))
    if not needs_job(thing, subject) or (subject in OF_ANNOTATORS and not annotator):
        raise Http404
    return redirect("job", start_chart(kind, thing, subject, annotator, by=request.user).pk)


@members_only
@require_safe
def chart_file(request: HttpRequest, kind: str, name: str, subject: str, form: str) -> HttpResponse:
    """A chart as SVG or PNG on white ground, or its figures as CSV."""
    thing = _thing_or_404(kind, name, subject)
    if form not in TYPES:
        raise Http404
    annotator = _annotator(request, _annotators(subject))
    found = _findings_or_404(thing, subject, annotator)
    body = csv_of(found) if form == "csv" else chart_bytes(found.chart, f".{form}")
    named = "-".join(filter(None, [thing.name, subject, annotator]))
    attached = {"Content-Disposition": f'attachment; filename="{named}.{form}"'}
    return HttpResponse(body, content_type=TYPES[form], headers=attached)


def _findings_or_404(thing: Thing, subject: str, annotator: str) -> Findings:
    try:
        if not needs_job(thing, subject):
            return findings_of(thing, subject).figures
        if measured := stored_chart(thing, subject, annotator):
            return measured.findings
    except CounterpartError as error:
        raise Http404 from error
    raise Http404


def _thing_or_404(kind: str, name: str, subject: str) -> Thing:
    if subject not in OFFERED.get(kind, ()):
        raise Http404
    thing: Thing = get_object_or_404(THINGS[kind], name=name)
    if subject not in offered(kind, thing):
        raise Http404
    return thing


def _has_simulated(thing: Thing) -> bool:
    """Whether programs gave some of the answers behind it."""
    if isinstance(thing, Version):
        return bool(thing.manifest["counts"]["simulated_votes"])
    return isinstance(thing, Round) and was_played(thing)


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
