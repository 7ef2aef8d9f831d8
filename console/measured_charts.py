"""Charts that take too long for a request: measured by a job, stored, and shown until they are measured again."""

import json
from dataclasses import dataclass
from datetime import datetime

from django.core.files.storage import default_storage
from django.utils import timezone

from console.plots import Thing, analysed, state_of, words_of
from core.files import write_file
from core.progress import Progress
from evaluation.analyses import Findings, plain


@dataclass(frozen=True)
class MeasuredChart:
    """What was found at a time; ``is_current`` while nothing new was judged or decided."""

    findings: Findings
    at: datetime
    is_current: bool


def measure_chart(thing: Thing, subject: str, annotator: str, *, progress: Progress) -> None:
    """Measure and store a chart. Raises CounterpartError where there is nothing to draw."""
    state = state_of(thing)
    found = analysed(words_of(thing, subject, annotator), progress)
    kept = {"at": timezone.now().isoformat(), "state": state, "chart": found.chart, "rows": plain(list(found.rows))}
    write_file(chart_path(thing, subject, annotator), json.dumps(kept, default=float).encode())


def stored_chart(thing: Thing, subject: str, annotator: str) -> MeasuredChart | None:
    """Return the chart as it was measured last, or None."""
    path = chart_path(thing, subject, annotator)
    if not default_storage.exists(path):
        return None
    with default_storage.open(path) as file:
        kept = json.load(file)
    findings = Findings({}, "", kept["chart"], kept["rows"])
    return MeasuredChart(findings, datetime.fromisoformat(kept["at"]), kept["state"] == state_of(thing))


def chart_path(thing: Thing, subject: str, annotator: str) -> str:
    """Return where a measured chart is in the storage."""
    parts = [type(thing).__name__.lower(), str(thing.pk), subject, *([annotator] if annotator else [])]
    return f"charts/{'-'.join(parts)}.json"
