"""Figures on a round's page: the bars of seats and levels, its newest answers, the number of verdicts, and how sure
they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from math import ceil
from typing import Any

from django.core.cache import cache

from annotation.models import Assignment, Judgment
from annotation.work.judgments import answers_from
from annotation.work.standing import Standing
from console.charts.inline_bars import part_chart
from console.rounds.vote_orders import repeats_of
from counterpart_statistics.aggregation import shows_percentage
from counterpart_statistics.aggregation.certainty import REVIEWED, SEVERAL
from dataset.judged.verdict_files import count_verdicts
from dataset.judged.verdict_worth import held_sentence, round_sentences
from dataset.models import Aggregation
from dataset.reviews.random_reviews import random_reviews
from hits.models import Round, Seat
from mitl.charts.drawing import Chart

NEWEST = 8


def seat_bar(standing: Standing) -> Chart | None:
    """Draw the round's seats: done, flagged, sent and not yet decided, at work, open."""
    taken = standing.seats[Seat.State.TAKEN]
    flagged = min(standing.work[Assignment.State.FLAGGED], taken)
    sent = min(standing.work[Assignment.State.SUBMITTED], taken - flagged)
    parts = [
        ("good", "done", standing.filled),
        ("level-3", "flagged for a review", flagged),
        ("violet", "sent, not decided", sent),
        ("accent", "at work", taken - flagged - sent),
        ("line", "open", standing.seats[Seat.State.OPEN]),
    ]
    return part_chart("Seats", parts)


def level_bar(counts: Mapping[int, int], labels: Mapping[int, str]) -> Chart | None:
    """Draw the answers by level, under the label of each that an answer has; None if all counts are 0."""
    parts = [(f"level-{level}", f"{level} {label}", counts.get(level, 0)) for level, label in labels.items()]
    return part_chart("Shares of the levels", parts, with_shares=True)


def newest_answers(round: Round) -> list[Judgment]:
    """Return an answer of each of the last submissions, newest first: the first that is not to a control."""
    submitted = Assignment.objects.with_hit().filter(hit__round=round, state__in=Assignment.SUBMITTED)
    last = list(submitted.order_by("-submitted_at", "-pk").values_list("pk", flat=True)[:NEWEST])
    answers = answers_from(last).of_candidates().order_by("item__place")
    first: dict[int, Judgment] = {}
    for answer in answers.select_related("assignment__hit__round", "worker", "image", "caption", "item"):
        first.setdefault(answer.assignment_id, answer)
    return [first[key] for key in last if key in first]


def verdict_count(aggregation: Aggregation) -> int:
    """Return how many verdicts an aggregation has. Cached: they change only when it is made again."""
    key = f"verdicts:{aggregation.pk}:{aggregation.at.isoformat()}"
    return int(cache.get_or_set(key, partial(count_verdicts, aggregation), timeout=86_400) or 0)


@dataclass(frozen=True)
class RoundWorth:
    """How sure the verdicts of a round are, in sentences; the first says how many are wrong, or why no number is said.

    Attributes:
        twice: pairs to judge twice that would give each pair a percentage, 0 once it has, and their ``cost``.
        reviews: reviews of verdicts drawn at random that would; 0 as well.
        held: a sentence on how many of the verdicts held that are nearly sure.
    """

    sentences: Sequence[str]
    twice: int
    cost: Decimal
    reviews: int
    held: str


def worth_of(aggregation: Aggregation) -> RoundWorth:
    """Return what the page of a round says of its verdicts, by the last count of its votes."""
    round = aggregation.round
    figures: dict[str, Any] = aggregation.certainty or {}
    checked = random_reviews(aggregation)
    tested = [*repeats_of(aggregation), *zip((one.probability for one in checked.verdicts), checked.right, strict=True)]
    sentences = list(round_sentences(figures))
    can_measure = not figures.get("silent", True) and not shows_percentage(figures, 1)
    twice = SEVERAL - figures["several"] if can_measure else 0
    reviews = max(REVIEWED - len(checked.verdicts), 0) if can_measure else 0
    hits = ceil(twice / round.design["candidates"])
    held = "" if figures.get("silent", True) else held_sentence(tested)
    return RoundWorth(sentences, twice, hits * round.seat_cost, reviews, held)
