"""Charts that jobs made: a file each with the drawing and its figures, shown until a newer chart is stored."""

from base64 import b64decode, b64encode
from dataclasses import dataclass
from datetime import datetime

from console.charts.plots import Charted, Rows, analyse, parameters_of_chart, state_of
from core import clock
from core.errors import CounterpartError
from core.files.stored_files import read_json, write_json
from core.progress import Progress
from evaluation.analyses import plain
from mitl.charts.drawing import chart_bytes


@dataclass(frozen=True)
class MeasuredChart:
    """A chart on white ground and the ``rows`` behind it, or the ``trouble``: why nothing can be drawn.

    ``at`` is when it was made; it ``is_current`` while its data are the same.
    """

    at: datetime
    is_current: bool
    trouble: str = ""
    rows: Rows = ()
    svg: str = ""
    png: bytes = b""


def measure_chart(charted: Charted, subject: str, annotator: str, *, progress: Progress) -> str:
    """Measure, draw and store a chart; return why there is nothing to draw, or an empty text."""
    kept = {"at": clock.now().isoformat(), "state": state_of(charted, subject)}
    trouble = ""
    try:
        findings = analyse(subject, parameters_of_chart(charted, subject, annotator), progress)
    except CounterpartError as error:
        trouble = str(error)
        kept["trouble"] = trouble
    else:
        kept["rows"] = plain([dict(row) for row in findings.rows])
        kept["svg"] = chart_bytes(findings.chart, ".svg").decode()
        kept["png"] = b64encode(chart_bytes(findings.chart, ".png")).decode()
    write_json(chart_path(charted, subject, annotator), kept)
    return trouble


def stored_chart(charted: Charted, subject: str, annotator: str) -> MeasuredChart | None:
    """Return the stored chart, or None."""
    kept = read_json(chart_path(charted, subject, annotator))
    if kept is None:
        return None
    at = datetime.fromisoformat(kept["at"])
    is_current = kept["state"] == state_of(charted, subject)
    if trouble := kept.get("trouble"):
        return MeasuredChart(at, is_current, trouble=trouble)
    if "svg" not in kept:  # version 0.3 stored no drawing
        return None
    return MeasuredChart(at, is_current, rows=kept["rows"], svg=kept["svg"], png=b64decode(kept["png"]))


def stored_rows(charted: Charted, subject: str) -> Rows:
    """Return the figures of the stored chart, empty without one. They may be older than the data."""
    kept = read_json(chart_path(charted, subject, "")) or {}
    rows: Rows = kept.get("rows", ())
    return rows


def chart_path(charted: Charted, subject: str, annotator: str) -> str:
    """Return where a chart is in the storage."""
    parts = [type(charted).__name__.lower(), str(charted.pk), subject, *([annotator] if annotator else [])]
    return f"charts/{'-'.join(parts)}.json"
