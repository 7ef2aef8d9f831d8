"""Figures on a round's page: the bars of seats and levels, its newest answers, the workers to look at, and how sure the
verdicts are."""

from collections.abc import Iterable, Mapping
from math import ceil
from typing import Any, NamedTuple

from annotation.models import Assignment, Judgment, Pause
from annotation.work.judgments import answers_from
from annotation.work.standing import Standing
from annotation.work.worker_records import WorkerLine
from console.charts.inline_bars import part_chart
from console.rounds.vote_orders import repeats_of
from core.text import counted
from counterpart_statistics.aggregation import shows_percentage
from counterpart_statistics.aggregation.certainty import REVIEWED, SEVERAL
from dataset.judged.verdict_worth import held_sentence, round_sentences
from dataset.models import Aggregation
from dataset.reviews.random_reviews import random_reviews
from hits.models import Round, Seat
from mitl.charts.drawing import Chart

NEWEST = 8
MOST_LOOKS = 8
LEAST_ANSWERED = 4  # controls from which on a low share of right ones is a reason to look at a worker
LOW_SHARE = 2 / 3


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


class WorkerLook(NamedTuple):
    """A worker's line, with a few words for each reason to look at them."""

    line: WorkerLine
    reasons: list[str]


def workers_to_look_at(round: Round, lines: Iterable[WorkerLine]) -> list[WorkerLook]:
    """Return the workers of the round with flagged work first, then those who fail controls, with two queries."""
    paused = set(Pause.objects.filter(round=round, lifted_at=None).values_list("worker__pseudonym", flat=True))
    flagged = Assignment.objects.filter(hit__round=round, state=Assignment.State.FLAGGED).exclude(signals=[])
    signals = dict(flagged.order_by("pk").values_list("worker__pseudonym", "signals"))
    looks = []
    for line in lines:
        controls = line.controls
        fails = controls.share is not None and controls.answered >= LEAST_ANSWERED and controls.share < LOW_SHARE
        reasons = {
            f"{counted(line.flagged, 'HIT')} flagged": line.flagged,
            f"{controls.right} of {controls.answered} controls right": fails,
            f"votes of {counted(line.excluded, 'HIT')} excluded": line.excluded,
            **{one["sentence"]: True for one in signals.get(line.pseudonym, [])},
            "paused in this round": line.pseudonym in paused,
        }
        looks.append(WorkerLook(line, [reason for reason, holds in reasons.items() if holds]))
    wanted = [look for look in looks if look.reasons]
    wanted.sort(key=lambda look: (-look.line.flagged, look.line.controls.weight, look.line.pseudonym))
    return wanted[:MOST_LOOKS]


def worth_of(aggregation: Aggregation) -> dict[str, Any]:
    """Return what the page of a round says of its verdicts, by the last count of its votes: ``sentences``, the first on
    how many are wrong, or why no number is said; pairs to judge ``twice`` and ``reviews`` of verdicts drawn at random
    that would give each pair a percentage; and ``held``, on how many of the nearly sure verdicts held."""
    round = aggregation.round
    figures: dict[str, Any] = aggregation.certainty or {}
    checked = random_reviews(aggregation)
    tested = [*repeats_of(aggregation), *zip((one.probability for one in checked.verdicts), checked.right, strict=True)]
    can_measure = not figures.get("silent", True) and not shows_percentage(figures, 1)
    twice = SEVERAL - figures["several"] if can_measure else 0
    reviews = max(REVIEWED - len(checked.verdicts), 0) if can_measure else 0
    return {
        "sentences": list(round_sentences(figures)),
        "twice": twice,
        "cost": ceil(twice / round.design["candidates"]) * round.seat_cost,
        "reviews": reviews,
        "held": "" if figures.get("silent", True) else held_sentence(tested),
    }
