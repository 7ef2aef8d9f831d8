"""Charts of the analyses on pages: which there are, their figures, and how they are stored.

A chart is what the command ``analyse`` finds with the same parameters, so that pages, files and terminal agree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from math import isnan
from typing import Any

from django.db.models import Max, QuerySet

from annotation.models import ControlRuling, Decision
from annotation.money.wages import was_played
from annotation.work.standing import standing_of
from core import clock
from core.errors import CounterpartError
from core.files.stored_files import read_json, write_json
from core.parameters import Parameters
from core.progress import Progress
from core.site.version import software_version
from dataset.models import Review, Version
from evaluation.analyses import Findings, parameters_of, plain, subject_named
from evaluation.models import Run
from hits.judge_designs import JudgeDesign
from hits.models import Round
from hits.task_types import task_type_of
from mitl.charts.drawing import Chart
from mitl.models import Annotator, Pool

ROWS = 100


TITLES = {
    "stopping": "Effect on models",
    "live": "Scores over the looks",
    "workers": "Workers",
    "annotators": "Levels by annotator and rank",
    "reasons": "Reasons",
    "agreement": "Agreement",
    "mimicry": "Workers who follow an annotator",
    "estimates": "Scores of models",
    "calibration": "Calibration",
    "positives": "Positives per query",
    "uncertainty": "Uncertainty and multiplicity",
    "diversity": "Similarity of rankings",
    "determinate": "Determinate captions",
    "preference": "Preferences between rankings",
    "hubness": "Hubs",
}
OF_TASKS = ("determinate", "preference")  # charts with the names of their types of task, which are not about pairs
OF_ANSWERS = ("workers", "annotators", "reasons", "agreement")
OF_ROUNDS = ("stopping", "live", "estimates", *OF_ANSWERS, "mimicry", "calibration")
OFFERED = {
    "round": (*OF_ROUNDS, *OF_TASKS),
    "version": ("positives", *OF_ANSWERS, "uncertainty"),
    "pool": ("diversity", "hubness"),
}
"""The charts that the page of a round, a version or a pool offers."""
OF_ANNOTATORS = {"uncertainty": ("pcme",)}
"""The charts that are drawn for one annotator, and the kinds that they are drawn for."""

Charted = Round | Version | Pool
Rows = Sequence[Mapping[str, Any]]
CHARTED: dict[str, QuerySet[Any]] = {
    "round": Round.objects.select_related("pool__collection"),
    "version": Version.objects.select_related("collection"),
    "pool": Pool.objects.select_related("collection", "sample"),
}


def offered(kind: str, charted: Charted) -> Sequence[str]:
    """Return the charts of a round, by its type of task, of a version or of a pool."""
    if isinstance(charted, Round):
        if not task_type_of(charted).on_pairs:
            return [one for one in OF_TASKS if one == charted.task]
        is_audit = JudgeDesign.from_json(charted.summary.get("judge")).judge == "audit"
        others = {"stopping" if is_audit else "live", *([] if charted.reasons else ["reasons"])}
        return [one for one in OF_ROUNDS if one not in others]
    return OFFERED[kind]


def parameters_of_chart(charted: Charted, subject: str, annotator: str = "") -> Parameters:
    """Return the parameters of the analysis that a chart shows, of ``annotator`` where it is of one."""
    given: dict[str, Any] = {"name" if subject in ("stopping", "live") else "round": charted.name}
    if isinstance(charted, Version) and subject in OF_ANNOTATORS:
        given = {"collection": charted.collection.name, "annotator": annotator or "A", "matches": charted.name}
    elif isinstance(charted, Version):
        given = {"version": charted.name}
    elif isinstance(charted, Pool):
        names = Annotator.objects.filter(retrievals__pools=charted).distinct().order_by("name")
        annotators = tuple(names.values_list("name", flat=True)) or ("A",)
        given = {"collection": charted.collection.name, "annotators": annotators, "queries": charted.sample.name}
    return parameters_of(subject_named(subject))(**given)


def state_of(charted: Charted, subject: str) -> str:
    """Return a key of the data behind a chart. It changes with a round's work, decisions and retired controls, with
    the reviews of the collection, and with the software; pools and the ranking of an annotator never change."""
    parts: list[object] = [software_version()]
    if isinstance(charted, Round):
        parts += standing_of(charted).work.values()
        parts.append(_newest(Decision.objects.filter(assignment__hit__round=charted)))
        parts.append(_newest(ControlRuling.objects.filter(control__round=charted)))
        parts.append(_newest(Review.objects.filter(collection=charted.pool.collection_id)))
        if subject in ("estimates", "live"):
            parts.append(_newest(Run.objects.filter(collection=charted.pool.collection_id)))
    if isinstance(charted, Version) and subject not in OF_ANNOTATORS:
        parts.append(_newest(Review.objects.filter(collection=charted.collection_id)))
    return "-".join(map(str, parts))


def _newest(rows: QuerySet[Any]) -> int:
    return rows.aggregate(newest=Max("pk", default=0))["newest"]


def table_of(rows: Rows) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the first rows of the figures behind a chart, as text."""
    return list(rows[0]) if rows else [], [[_cell(value) for value in row.values()] for row in rows[:ROWS]]


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return "–" if isnan(value) else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def measure_chart(charted: Charted, subject: str, annotator: str, *, progress: Progress) -> str:
    """Measure and store a chart; return why there is nothing to draw, or an empty text."""
    kept: dict[str, Any] = {"at": clock.now().isoformat(), "state": state_of(charted, subject)}
    trouble = ""
    parameters = parameters_of_chart(charted, subject, annotator)
    try:
        findings: Findings = subject_named(subject).analyse(parameters, progress=progress)
    except CounterpartError as error:
        trouble = str(error)
        kept["trouble"] = trouble
    else:
        kept["rows"] = plain([dict(row) for row in findings.rows])
        kept["drawing"] = asdict(findings.chart)
        kept["said"] = [*findings.said]
    write_json(chart_path(charted, subject, annotator), kept)
    return trouble


def stored_chart(charted: Charted, subject: str, annotator: str) -> dict[str, Any] | None:
    """Return the stored chart, or None: ``at`` which time it was made, whether it ``is_current`` as its data are the
    same, and its ``drawing``, the ``rows`` behind it and what it ``said``, or the ``trouble``: why nothing is drawn."""
    kept = read_json(chart_path(charted, subject, annotator))
    if kept is None or not kept.keys() & {"drawing", "trouble"}:  # earlier versions stored a drawing in fixed sizes
        return None
    return kept | {
        "at": datetime.fromisoformat(kept["at"]),
        "is_current": kept["state"] == state_of(charted, subject),
        "drawing": Chart.from_json(kept["drawing"]) if "drawing" in kept else None,
    }


def stored_rows(charted: Charted, subject: str) -> Rows:
    """Return the figures of the stored chart, empty without one. They may be older than the data."""
    kept = read_json(chart_path(charted, subject, "")) or {}
    rows: Rows = kept.get("rows", ())
    return rows


def chart_path(charted: Charted, subject: str, annotator: str) -> str:
    """Return where a chart is in the storage."""
    parts = [type(charted).__name__.lower(), str(charted.pk), subject, *([annotator] if annotator else [])]
    return f"charts/{'-'.join(parts)}.json"


def annotators_of(subject: str) -> list[str]:
    """Return the annotators that a chart can be of; none where it is of no single one."""
    kinds = OF_ANNOTATORS.get(subject, ())
    return list(Annotator.objects.filter(kind__in=kinds).values_list("name", flat=True)) if kinds else []


def has_simulated(charted: Charted) -> bool:
    """Whether programs gave some of the answers behind the charts."""
    if isinstance(charted, Version):
        return bool(charted.manifest["counts"]["simulated_votes"])
    return isinstance(charted, Round) and was_played(charted)
