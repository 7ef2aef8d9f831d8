"""Quality of a round: pace, hourly pay, controls, levels, and the agreement of its workers."""

from dataclasses import dataclass
from decimal import Decimal
from math import isnan

from django.db.models import Count, Q

from annotation.models import Assignment
from annotation.money.wages import Timing, timing_of
from annotation.work.control_records import ANSWERED_RIGHT, UNRETIRED, Tally
from annotation.work.judgments import BY_LEVEL, answers_in, votes_in
from counterpart_statistics.agreement import alpha_of_counts
from hits.models import Round
from hits.question import Level


@dataclass(frozen=True)
class Quality:
    """Figures of a round's submitted work; ``timing`` is of accepted work, ``levels`` counts its judgments of
    candidates, ``alpha`` is Krippendorff's, ordinal, of these (None where no two workers judged a pair)."""

    timing: Timing | None
    dollars_an_hour: Decimal | None
    controls: Tally
    levels: dict[int, int]
    alpha: float | None


def quality_of(round: Round) -> Quality:
    """Return a round's quality, with a constant number of queries."""
    timing = timing_of(round, at_least=1)
    controls, levels = _answers(round)
    return Quality(
        timing=timing,
        dollars_an_hour=round.reward * 3600 / Decimal(timing.active) if timing and timing.active else None,
        controls=controls,
        levels=levels,
        alpha=_alpha(round),
    )


def _answers(round: Round) -> tuple[Tally, dict[int, int]]:
    """Return the answers to controls that are not retired, and the counted answers on candidates by level, from one
    pass over all answers: two queries read nearly as many rows each, and a GROUP BY would sort them."""
    votes = Q(item__control=None) & Q(assignment__state=Assignment.State.ACCEPTED)
    by_level = {f"n{level}": Count("pk", filter=Q(level=level) & votes) for level in Level.values}
    counts = answers_in(round).aggregate(
        answered=Count("pk", filter=UNRETIRED), right=Count("pk", filter=UNRETIRED & ANSWERED_RIGHT), **by_level
    )
    return Tally(counts["answered"], counts["right"]), {level: counts[f"n{level}"] for level in Level.values}


def _alpha(round: Round) -> float | None:
    """Return the agreement of workers on candidates, from a row a pair."""
    if round.replication == 1:  # a pair has one answer
        return None
    votes = list(votes_in(round).values("image", "caption").annotate(**BY_LEVEL).values_list(*BY_LEVEL))
    alpha = alpha_of_counts(votes, Level.values, "ordinal") if votes else float("nan")
    return None if isnan(alpha) else alpha
