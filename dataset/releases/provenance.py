"""Where the votes of a round came from, and whether they are all there."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Count, Max, Min, Q

from annotation.models import Assignment
from annotation.work.judgments import answers_in
from annotation.work.standstill import waits_for
from core.errors import CounterpartError
from dataset.judged.released_rows import BROWSER
from hits.models import Round, Seat
from hits.task_types import TASK_TYPES


def provenance_of(round: Round) -> dict[str, Any]:
    """Return a round's channel, dates, workers, answer sets and pairs, as a manifest lists them."""
    judgments = answers_in(round)
    counted = judgments.counted().of_candidates()
    dates = judgments.aggregate(first=Min("at"), last=Max("at"))
    pairs = round.pool.proposals.values("image_id", "caption_id").distinct().count()
    judged = counted.values("image_id", "caption_id").distinct().count()
    return {
        "channel": round.channel or BROWSER,
        "environment": round.environment,
        "rehearsal": round.rehearsal,
        "first_judgment": _day(dates["first"]),
        "last_judgment": _day(dates["last"]),
        "workers": judgments.values("worker").distinct().count(),
        "simulated_workers": judgments.simulated().values("worker").distinct().count(),
        "answer_sets": _answer_sets(round),
        "votes": counted.count(),
        "simulated_votes": counted.simulated().count(),
        "pairs_in_pool": pairs,
        "pairs_judged": judged,
        "pairs_unjudged": pairs - judged,
        "unfinished": unfinished(round),
    }


def unfinished(round: Round) -> dict[str, int]:
    """Return the number of seats without counted answers and of answer sets to review, if there are any."""
    seats = Seat.objects.filter(round=round).exclude(state=Seat.State.FILLED).count()
    waiting = Assignment.objects.filter(
        hit__round=round, state__in=(Assignment.State.SUBMITTED, Assignment.State.FLAGGED)
    ).count()
    return {name: count for name, count in {"seats": seats, "waiting_for_review": waiting}.items() if count}


def refuse_unfinished(rounds: Sequence[Round]) -> None:
    """Raise CounterpartError for rounds of which answers are missing or wait for a person."""
    for round in rounds:
        if left := unfinished(round):
            wanted = Seat.objects.filter(round=round).count()
            waiting = (
                f", {left['waiting_for_review']:,} of them waiting for a review" if "waiting_for_review" in left else ""
            )
            raise CounterpartError(
                f"Round {round} is unfinished: {left.get('seats', 0):,} of {wanted:,} answer sets missing{waiting}. "
                f"{waits_for(round)} To release it as it is, which the version's manifest records: --partial."
            )


def refuse_mixed_tasks(rounds: Sequence[Round]) -> None:
    """Raise CounterpartError for rounds of different tasks, whose votes would be aggregated as if they were of one."""
    if mixed := mixed_tasks({round.name: round.task for round in rounds}):
        raise CounterpartError(
            f"The rounds have different tasks: {mixed}. Release them apart, or count all of their votes alike "
            "(--mixed-tasks), which the version's manifest and card record."
        )


def mixed_tasks(tasks: Mapping[str, str]) -> str:
    """Name the task of each round, with the levels that its answers can have; "" if all have the same task."""
    if len(set(tasks.values())) < 2:
        return ""
    levels = {task: ", ".join(str(int(level)) for level in sorted(TASK_TYPES[task].labels)) for task in tasks.values()}
    return "; ".join(f"{name} has {task} (levels {levels[task]})" for name, task in sorted(tasks.items()))


def _answer_sets(round: Round) -> dict[str, int]:
    submitted = Assignment.objects.with_hit().filter(hit__round=round, state__in=Assignment.SUBMITTED)
    counts = submitted.aggregate(
        counted=Count("pk", filter=Q(state=Assignment.State.ACCEPTED)),
        excluded=Count("pk", filter=Q(state=Assignment.State.EXCLUDED)),
    )
    return dict(counts)


def _day(at: Any) -> str:
    return at.strftime("%Y-%m-%d") if at else ""
