"""Charts of the analyses on pages: which there are, their figures, and their drawing in the page's own colours.

A chart is what the command ``analyse`` says with the same words, so pages, files and terminal tell one truth.
"""

import re
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

from django.core.cache import cache
from django.db.models import Max, QuerySet
from django.utils import timezone
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from annotation.models import ControlRuling, Decision
from annotation.standing import standing_of
from console.records import Kept, kept_if_slow
from core.progress import Progress, silent
from dataset.models import Review, Version
from evaluation.analyses import Findings, subjects, write_table
from hits.designs import Design
from hits.models import Round
from hits.task_types import task_type_of
from mitl.charts import COLOURS, INK, INK_SOFT, LINE, Spec, chart_bytes, heat_map
from mitl.models import Annotator, Pool
from mitl.pooling import Overlap

ROWS = 100
HOUR = 3600


@dataclass(frozen=True)
class Plot:
    """A chart that pages offer: its ``title``, and what it shows."""

    title: str
    says: str


PLOTS = {
    "workers": Plot(
        "Workers",
        "Workers by the number of HITs they did (ECCV Caption, table B.1): how many there are, what they submitted, "
        "how much was accepted, how they answered controls. Then how many workers are how good at controls, and how "
        "fast.",
    ),
    "annotators": Plot(
        "Levels by annotator and rank",
        "How people judged what each annotator proposed, at each rank of its list (ECCV Caption, table B.2).",
    ),
    "reasons": Plot(
        "Reasons",
        "The reasons that people gave at levels 2 and 3, by level, direction and annotator (ECCV Caption, table B.3).",
    ),
    "agreement": Plot(
        "Agreement",
        "How far workers agree with each other, with controls, reviewers and annotators; 95% intervals. Reviewers look "
        "mostly at doubtful pairs, so that agreement with them is low by choice.",
    ),
    "positives": Plot(
        "Positives per query",
        "How many of the queries have at least so many positives, before and after (ECCV Caption, figure 3a).",
    ),
    "uncertainty": Plot(
        "Uncertainty and multiplicity",
        "Whether a probabilistic annotator (PCME) is less certain about images and captions that have more matches in "
        "the version (ECCV Caption, figure 3b). A larger dot means more items.",
    ),
    "diversity": Plot(
        "Similarity of rankings",
        "How alike the annotators rank the same queries (ECCV Caption, table A.1); darker is more alike.",
    ),
    "determinate": Plot(
        "Determinate captions",
        "How many captions have which share of yes: workers say that a caption fits only few pictures.",
    ),
    "preference": Plot(
        "Preferences between rankings",
        "How strongly people prefer each of the study's rankings: Bradley-Terry strengths in percent (appendix D.1).",
    ),
    "hubness": Plot(
        "Hubs",
        "How many items are in the first ten places of at least so many queries' lists. The further right a line ends, "
        "the larger the hubs of that annotator; the figures have the skewness of N₁, N₅ and N₁₀.",
    ),
}
OF_TASKS = ("determinate", "preference")  # named as the types of task, which are not about pairs, that have one
OF_ANSWERS = ("workers", "annotators", "reasons", "agreement")
OFFERED = {
    "round": (*OF_ANSWERS, *OF_TASKS),
    "version": ("positives", *OF_ANSWERS, "uncertainty"),
    "pool": ("diversity", "hubness"),
}
"""The charts of each kind of thing."""
OF_ANNOTATORS = {"uncertainty": ("pcme",)}
"""The charts that are drawn for one annotator, and the kinds that they are drawn for."""
LARGE = 100_000  # judgments: seconds of a request

Thing = Round | Version | Pool
THINGS: dict[str, QuerySet[Any]] = {
    "round": Round.objects.select_related("pool__collection"),
    "version": Version.objects.select_related("collection"),
    "pool": Pool.objects.select_related("collection", "sample"),
}


def offered(kind: str, thing: Thing) -> Sequence[str]:
    """Return the charts of a thing, those that its type of task has where it is a round."""
    if isinstance(thing, Round):
        if not task_type_of(thing).on_pairs:
            return [one for one in OF_TASKS if one == thing.task]
        return [one for one in OF_ANSWERS if one != "reasons" or thing.reasons]
    return OFFERED[kind]


def words_of(thing: Thing, subject: str, annotator: str = "") -> list[str]:
    """Return the words of ``analyse`` that draw a chart, of ``annotator`` where it is of one."""
    if isinstance(thing, Version) and subject in OF_ANNOTATORS:
        return [subject, thing.collection.name, "--annotator", annotator or "A", "--matches", thing.name]
    if isinstance(thing, Pool):
        names = Annotator.objects.filter(retrievals__pools=thing).distinct().order_by("name")
        joined = ",".join(names.values_list("name", flat=True))
        return [subject, thing.collection.name, "--annotators", joined, "--queries", thing.sample.name]
    if isinstance(thing, Version) and subject in OF_ANSWERS:
        return [subject, "--version", thing.name]
    return [subject, thing.name]


def needs_job(thing: Thing, subject: str) -> bool:
    """Whether a chart takes too long for a request: it opens a network, or reads very many judgments."""
    if subject in OF_ANNOTATORS:
        return True
    if isinstance(thing, Round):
        return sum(standing_of(thing).work.values()) * Design(**thing.design).size > LARGE
    return isinstance(thing, Version) and subject in OF_ANSWERS and thing.manifest["counts"].get("votes", 0) > LARGE


def findings_of(thing: Thing, subject: str) -> Kept[Findings]:
    """Return the figures and the chart, cached until something new was judged or decided; those that take over a second
    are kept for a while even then. Raises CounterpartError where there is nothing to draw."""
    place = f"chart:{type(thing).__name__}:{thing.pk}:{subject}"
    exact = f"{place}:{state_of(thing)}"

    def make() -> Findings:
        found = analysed(words_of(thing, subject))
        cache.set(exact, found, timeout=HOUR)
        return found

    known: Findings | None = cache.get(exact)
    return Kept(known, timezone.now()) if known else kept_if_slow(place, make)


def analysed(words: list[str], progress: Progress = silent) -> Findings:
    """Return what ``analyse`` with these words finds. Raises CounterpartError as it does."""
    module, parser = subjects()[words[0]], ArgumentParser()
    module.add_arguments(parser)
    found: Findings = module.analyse(progress=progress, **vars(parser.parse_args(words[1:])))
    return found


def state_of(thing: Thing) -> str:
    """Tell what is known of a thing from what is known of it later: a round's work, decisions and retired controls, and
    the reviews of the collection. Pools never change."""
    if isinstance(thing, Pool):
        return ""
    if isinstance(thing, Version):
        return str(_newest(Review.objects.filter(collection=thing.collection_id)))
    newest = (
        Decision.objects.filter(assignment__hit__round=thing),
        ControlRuling.objects.filter(control__round=thing),
        Review.objects.filter(collection=thing.pool.collection_id),
    )
    return "-".join(map(str, [*standing_of(thing).work.values(), *map(_newest, newest)]))


def _newest(rows: QuerySet[Any]) -> int:
    return rows.aggregate(newest=Max("pk", default=0))["newest"]


def csv_of(findings: Findings) -> str:
    text = StringIO()
    write_table(findings.rows, text)
    return text.getvalue()


def table_of(findings: Findings) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the first rows of the figures behind a chart, as text."""
    rows = findings.rows[:ROWS]
    return list(rows[0]) if rows else [], [[_cell(value) for value in row.values()] for row in rows]


def _cell(value: Any) -> str:
    if value is None or value != value:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def overlap_chart(found: Overlap) -> SafeString | None:
    """Draw how much the annotators of a pool overlap; None for fewer than two of them."""
    if len(found.annotators) < 2:
        return None
    shares = 100 * found.shared / found.shared.diagonal()[:, None]
    names = [annotator.name for annotator in found.annotators]
    chart = heat_map(
        "Percent of the row's pairs that the column proposed too", names, shares, form=".0f", scale=(0, 100)
    )
    return drawn(chart, "Heat map of the overlap of annotators; the table below has the numbers of pairs.")


# Vega-Lite draws in fixed colours, for files; on a page each is a variable, so that it is right in the dark too.
COLOUR_NAMES = ("accent", "level-3", "level-1", "level-4", "level-2", "line-strong", "violet", "ink")
THEME = {INK: "ink", INK_SOFT: "ink-soft", LINE: "line", **dict(zip(COLOURS, COLOUR_NAMES, strict=True))}
PAINT = re.compile(r'(fill|stroke)="(#[0-9a-f]{6})"')
ROLES = re.compile(r' (?:role|aria-[a-z]+)="[^"]*"')
GROUND = re.compile(r'<rect ([^>]*)fill="#ffffff"/>')


def drawn(chart: Spec, label: str) -> SafeString:
    """Return a chart as SVG for a page, one picture for screen readers with ``label`` as its text."""
    svg = ROLES.sub("", chart_bytes(chart, ".svg").decode())
    svg = GROUND.sub(r'<rect \1fill="none"/>', svg, count=1)
    svg = PAINT.sub(lambda found: _paint(*found.groups()), svg)
    return mark_safe(svg.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1))  # noqa: S308


def _paint(attribute: str, colour: str) -> str:
    return f'{attribute}="var(--{THEME[colour]})"' if colour in THEME else f'{attribute}="{colour}"'
