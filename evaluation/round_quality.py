"""Quality of a round: pace, hourly pay, controls, levels, and the agreement of its workers."""

from dataclasses import dataclass
from decimal import Decimal
from math import isnan

from annotation.models import Judgment, JudgmentQuerySet
from annotation.money.wages import Timing, timing_of
from annotation.work.control_records import Tally
from annotation.work.disputes import BY_LEVEL
from annotation.work.worker_records import controls_of
from evaluation.agreement import alpha_of_counts
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
    answered = Judgment.objects.filter(assignment__hit__round=round).order_by()
    return Quality(
        timing=timing,
        dollars_an_hour=round.reward * 3600 / Decimal(timing.active) if timing and timing.active else None,
        controls=controls_of(Judgment.objects.filter(item__control__round=round).order_by()),
        levels=_levels(answered),
        alpha=_alpha(round),
    )


def _levels(judgments: JudgmentQuerySet) -> dict[int, int]:
    counts = judgments.counted().of_candidates().aggregate(**BY_LEVEL)  # in half the time of a GROUP BY
    return {level: counts[f"n{level}"] for level in Level.values}


def _alpha(round: Round) -> float | None:
    """Return the agreement of workers on candidates, from a row a pair."""
    if round.replication == 1:  # nobody else answers a pair
        return None
    candidates = Judgment.objects.counted().of_candidates().filter(assignment__hit__round=round).order_by()
    votes = list(candidates.values("image", "caption").annotate(**BY_LEVEL).values_list(*BY_LEVEL))
    alpha = alpha_of_counts(votes, Level.values, "ordinal") if votes else float("nan")
    return None if isnan(alpha) else alpha
