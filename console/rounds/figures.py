"""Figures on a round's page: the bars of seats and levels, its newest answers, and the number of verdicts."""

from collections.abc import Mapping
from functools import partial

from django.core.cache import cache

from annotation.models import Assignment, Judgment
from annotation.work.judgments import answers_from
from annotation.work.standing import Standing
from console.charts.inline_bars import Segment, split_bar
from dataset.judged.verdict_files import count_verdicts
from dataset.models import Aggregation
from hits.models import Round, Seat

NEWEST = 8


def seat_bar(standing: Standing) -> list[Segment]:
    """Return the round's seats: done, flagged, sent and not yet decided, at work, open."""
    taken = standing.seats[Seat.State.TAKEN]
    flagged = min(standing.work[Assignment.State.FLAGGED], taken)
    sent = min(standing.work[Assignment.State.SUBMITTED], taken - flagged)
    parts = [
        ("done", "done", standing.filled),
        ("flagged", "flagged for a review", flagged),
        ("sent", "sent, not decided", sent),
        ("leased", "at work", taken - flagged - sent),
        ("open", "open", standing.seats[Seat.State.OPEN]),
    ]
    return split_bar(parts)


def level_bar(counts: Mapping[int, int], labels: Mapping[int, str]) -> list[Segment]:
    """Return the answers by level, under the label of each that an answer has; empty if all counts are 0."""
    return split_bar([(str(level), label, counts.get(level, 0)) for level, label in labels.items()])


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
