"""The tags that show charts on pages: one that was drawn, and those that are offered of a thing."""

from typing import Any

from django import template

from console.charts.chart_jobs import jobs_of_charts
from console.charts.plots import (
    OF_ANNOTATORS,
    TITLES,
    Charted,
    annotators_of,
    has_simulated,
    offered,
    parameters_of_chart,
    stored_chart,
    table_of,
)
from console.charts.views import TYPES
from core.models import Job
from mitl.charts.drawing import Chart

register = template.Library()
STOPPED = (Job.State.FAILED, Job.State.CANCELLED)


@register.inclusion_tag("console/charts/_plot.html")
def chart(drawn: Chart | None) -> dict[str, object]:
    """Show a chart: its panels side by side as far as there is room, and its key; nothing for None."""
    return {"chart": drawn}


@register.inclusion_tag("console/charts/_charts.html", takes_context=True)
def charts_of(context: template.Context, kind: str, charted: Charted) -> dict[str, Any]:
    """Show the charts of a round, a version or a pool: a row of links, and the one that ``?show=`` names, as it was
    counted last."""
    chosen = context["request"].GET
    subjects = offered(kind, charted)
    if not subjects:
        return {"subjects": ()}
    subject = chosen["show"] if chosen.get("show") in subjects else subjects[0]
    annotators = annotators_of(subject)
    asked = chosen.get("annotator", "")
    annotator = asked if asked in annotators else next(iter(annotators), "")
    made = stored_chart(charted, subject, annotator)
    heads, rows = table_of(made.get("rows", ()) if made else ())
    options = parameters_of_chart(charted, subject, annotator).as_options()
    job = jobs_of_charts(kind, charted, annotator).first()
    return {
        "request": context["request"],
        "perms": context["perms"],
        "csrf_token": context.get("csrf_token"),
        "kind": kind,
        "charted": charted,
        "subjects": [(one, TITLES[one]) for one in subjects],
        "subject": subject,
        "title": TITLES[subject],
        "annotators": annotators,
        "annotator": annotator,
        "made": made,
        "heads": heads,
        "rows": rows,
        "forms": list(TYPES),
        "job": job if job and job.is_live else None,
        "stopped": job if job and job.state in STOPPED else None,
        "simulated": has_simulated(charted),
        "can_measure": bool(annotator) or subject not in OF_ANNOTATORS,
        "command": f"python manage.py analyse {subject} {options}",
    }
