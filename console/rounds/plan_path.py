"""The path to a packed round: questions, one a screen; presets that answer them; answers as a query string; and what
each design measures and costs."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict

from core.errors import CounterpartError
from corpus.models import Collection, Sample
from counterpart_statistics.vote_errors import REACH
from hits.judge_designs import queries_of
from hits.packing.designs import DEFAULT, DESIGNS
from hits.rounds.plan_estimates import PlanEstimate
from hits.rounds.round_parameters import PackParameters
from hits.task_types.levels import LEVELS
from mitl.models import Pool

PILOT_HITS = 5
PAPER_QUERIES = {"images": 1_261, "captions": 1_333}
"""Queries of ECCV Caption."""

SHAPING = ("collection", "task")
"""Answers that decide the defaults of others."""

Answers = dict[str, Any]
"""Values of the fields of a form, by name, as they are sent."""


@dataclass(frozen=True)
class PlanScreen:
    """A screen of the path: its question, and the fields that answer it; ``advanced`` are folded away."""

    name: str
    label: str
    question: str
    fields: tuple[str, ...]
    advanced: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return self.fields + self.advanced


STEPS = (
    PlanScreen("collection", "Collection", "Which collection?", ("collection",)),
    PlanScreen("queries", "Queries", "Which queries?", ("queries", "images", "captions"), ("direction",)),
    PlanScreen(
        "annotators",
        "Annotators",
        "Who proposes pairs?",
        ("annotators", "top_k"),
        ("control_depth", "engine", "cascade", "cascade_depth", "rerank", "accept_blind"),
    ),
    PlanScreen(
        "judging",
        "Judging",
        "How are the pairs judged?",
        ("task", "judge", "positives", "replication", "reasons"),
        ("design", "audit_share", "stop_recall", "stop_width", "top_up", "sharing", "seed"),
    ),
    PlanScreen("pay", "Pay", "What does a HIT pay?", ("reward", "ceiling", "round")),
)
PACKING = STEPS[3:]
"""The questions about an existing pool."""


def _pilot(collection: Collection, annotators: int) -> Answers:
    """Return the number of queries that fills the HITs if no two annotators agree on a pair, half of them captions."""
    pairs = PILOT_HITS * DESIGNS[DEFAULT].candidates
    top_k = max(1, min(5, pairs // (2 * annotators)))
    queries = max(2, pairs // (top_k * annotators))
    sizes = {"images": queries // 2, "captions": queries - queries // 2}
    return {"task": LEVELS.name, "design": DEFAULT, "top_k": top_k, **_at_most(collection, sizes)}


def _as_paper(collection: Collection, annotators: int) -> Answers:
    return {"task": LEVELS.name, "design": DEFAULT, "top_k": 5, **_at_most(collection, PAPER_QUERIES)}


def _at_most(collection: Collection, sizes: Mapping[str, int]) -> Answers:
    """Return the numbers of queries, but no more than the gallery has."""
    most = gallery_sizes(collection)
    return {name: min(size, most[name]) for name, size in sizes.items()}


@dataclass(frozen=True)
class Preset:
    """Answers to all questions except the collection; each can be changed afterwards."""

    name: str
    label: str
    note: str
    answers: Callable[[Collection, int], Answers]
    """Of a collection, and a number of annotators."""


PRESETS = (
    Preset(
        "pilot",
        f"Pilot of {PILOT_HITS} HITs",
        "Measures the time of a HIT before many are paid. Without annotators, word overlap proposes the pairs.",
        _pilot,
    ),
    Preset("eccv", "As ECCV Caption", "Top 5 of each annotator, four levels, one vote.", _as_paper),
)


def gallery_sizes(collection: Collection) -> dict[str, int]:
    """Return how many images and captions can be drawn as queries."""
    images = collection.images.gallery().captioned()
    captions = collection.captions.gallery()
    return {"images": images.count(), "captions": captions.count()}


def sent_answers(sent: QueryDict, step: PlanScreen) -> Answers:
    """Return the answers that were sent. On a screen of check boxes, an empty choice is an answer too."""
    answers: Answers = dict(sent.items())
    if "annotators" in sent or (sent.get("go") and "annotators" in step.names):
        answers["annotators"] = sent.getlist("annotators")
    return answers


def values_of(form: forms.Form) -> Answers:
    """Return the values that the fields of a form show."""
    return {name: form[name].value() for name in form.fields}


def changed(values: Answers, usual: Answers) -> list[tuple[str, str]]:
    """Return the values that differ from the ``usual`` ones, as the fields of an address or of a form."""
    pairs = []
    for name, value in values.items():
        if _texts(value) != _texts(usual.get(name)):
            pairs += [(name, text) for text in _texts(value)]
    return pairs


def address(step: PlanScreen, pairs: list[tuple[str, str]]) -> str:
    """Return the query that shows the step with these answers."""
    return f"?{urlencode([*pairs, ('step', step.name)])}"


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    return ["" if one in (None, False) else str(one) for one in values]


MEASURED = {
    "all": ("Everything", "Every pair is judged. Matches and scores are counted, without an interval."),
    "audit": ("The scores", "All pairs of some random queries are judged. Scores are estimated"),
    "audit+greedy": ("The scores and most matches", "After an audit, likely matches are judged. Scores are estimated"),
    "first-hits": ("R@1 alone", "Only the first hit of each annotator is judged. R@1 is counted, and nothing else."),
}
"""Value of ``judge`` → what it measures."""


def offered_designs(
    estimate: Callable[[Any], PlanEstimate], parameters: PackParameters | None, pool: Pool | None
) -> Iterator[dict[str, Any]]:
    """Yield the values of ``judge`` with what they measure, and an ``estimate`` with the other answers of
    ``parameters``; without one where these do not allow it, or are not valid (None)."""
    for judge, (label, effect) in MEASURED.items():
        alone = effect if "audit" not in judge else f"{effect}."
        offered: dict[str, Any] = {"judge": judge, "label": label, "effect": alone}
        if parameters:
            with suppress(CounterpartError):
                chosen = parameters
                if judge != parameters.judge:
                    top_up = parameters.top_up if parameters.seats > 1 else 0
                    unset: dict[str, Any] = dict.fromkeys(("audit_share", "stop_recall", "stop_width"))
                    chosen = replace(parameters, judge=judge, top_up=top_up, **unset)
                offered |= {"effect": _effect(effect, chosen, pool), "estimate": estimate(chosen)}
        yield offered


def _effect(effect: str, parameters: PackParameters, pool: Pool | None) -> str:
    """Return the effect of a design; of an audit with the error of a score at most."""
    if "audit" not in parameters.judge:
        return effect
    queries = list(queries_of(pool)) if pool else list(_planned_queries(parameters))
    design = parameters.judge_design(queries)
    error = max(largest_error(count, design.n_audited(count)) for count in queries if count)
    return f"{effect} within ±{error:.2f} or better."


def _planned_queries(parameters: Any) -> Iterable[int]:
    sizes = {"i2t": parameters.images, "t2i": parameters.captions}
    if parameters.queries:
        sample = Sample.objects.named(parameters.queries)
        sizes = {"i2t": sample.images.count(), "t2i": sample.captions.count()}
    return (size for direction, size in sizes.items() if parameters.direction in ("both", direction))


def largest_error(queries: int, audited: int) -> float:
    """Return the largest half of a 95% interval of a mean of values from 0 to 1, known for ``audited`` of its queries.

    >>> round(largest_error(60, 18), 2)
    0.2
    """
    if audited >= queries:
        return 0.0
    return REACH * 0.5 * sqrt((1 - audited / queries) / max(audited - 1, 1))
