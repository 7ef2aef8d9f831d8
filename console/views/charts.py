"""The charts of rounds, versions and pools: a page each, and files to download."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from console.permissions import members_only
from console.plots import OFFERED, PLOTS, csv_of, drawn, findings_of, table_of, words_of
from core.errors import CounterpartError
from dataset.models import Version
from hits.models import Round
from mitl.charts import chart_bytes
from mitl.models import Pool

THINGS: dict[str, QuerySet[Any]] = {
    "round": Round.objects.select_related("pool__collection"),
    "version": Version.objects.select_related("collection"),
    "pool": Pool.objects.select_related("collection", "sample"),
}
TYPES = {"svg": "image/svg+xml", "png": "image/png", "csv": "text/csv"}


@members_only
@require_safe
def chart(request: HttpRequest, kind: str, name: str, subject: str) -> HttpResponse:
    """A chart with the figures behind it, its files, and the command that says the same."""
    thing = _thing_or_404(kind, name, subject)
    plot = PLOTS[subject]
    context: dict[str, object] = {
        "kind": kind,
        "thing": thing,
        "subject": subject,
        "plot": plot,
        "tabs": [(one, PLOTS[one].title) for one in OFFERED[kind]],
        "command": f"python manage.py analyse {' '.join(words_of(thing, subject))}",
    }
    try:
        found = findings_of(thing, subject)
        heads, rows = table_of(found)
        context |= {"heads": heads, "rows": rows, "n_rows": len(found.rows)}
        context["svg"] = drawn(found.chart, f"{plot.title}: {plot.says} The table below has the figures.")
    except CounterpartError as error:
        context["trouble"] = str(error)
    return render(request, "console/chart.html", context)


@members_only
@require_safe
def chart_file(request: HttpRequest, kind: str, name: str, subject: str, form: str) -> HttpResponse:
    """A chart as SVG or PNG on white ground, or its figures as CSV."""
    thing = _thing_or_404(kind, name, subject)
    if form not in TYPES:
        raise Http404
    try:
        found = findings_of(thing, subject)
    except CounterpartError as error:
        raise Http404 from error
    body = csv_of(found) if form == "csv" else chart_bytes(found.chart, f".{form}")
    attached = {"Content-Disposition": f'attachment; filename="{thing.name}-{subject}.{form}"'}
    return HttpResponse(body, content_type=TYPES[form], headers=attached)


def _thing_or_404(kind: str, name: str, subject: str) -> Round | Version | Pool:
    if subject not in OFFERED.get(kind, ()):
        raise Http404
    thing: Round | Version | Pool = get_object_or_404(THINGS[kind], name=name)
    return thing
