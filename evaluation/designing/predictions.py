"""The predictions of a plan, kept with a round before it is judged, and their comparison with its real figures."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Sum

from annotation.models import Assignment
from annotation.money.ledger import commitment_of
from core import clock
from core.errors import CounterpartError
from counterpart_statistics.auditing.audit_designs import AuditDesign, design_of
from counterpart_statistics.auditing.plan_basis import PlanBasis
from evaluation.designing.audit_options import Terms, terms_of
from evaluation.designing.round_bases import is_judged
from hits.judge_designs import JudgeDesign, queries_of
from hits.models import Round
from hits.rounds.packed_rounds import PREDICTED, keep_prediction
from hits.task_types import require_pairs
from mitl.models import Direction, Pool

Prediction = dict[str, Any]
UNITS = {"count": "{:,.0f}", "dollars": "${:,.2f}", "hours": "{:,.1f}", "width": "{:.3f}"}
"""How figures of each unit are written."""


@dataclass(frozen=True)
class Compared:
    """One figure; ``unit`` is a key of UNITS, ``real`` None where the round says nothing of it yet."""

    name: str
    predicted: float
    real: float | None
    unit: str

    @property
    def predicted_text(self) -> str:
        return UNITS[self.unit].format(self.predicted)

    @property
    def real_text(self) -> str:
        return "–" if self.real is None else UNITS[self.unit].format(self.real)

    def row(self) -> dict[str, Any]:
        """Return what ``plan --json`` prints."""
        return {"figure": self.name, "predicted": self.predicted, "real": self.real}


def predict(basis: PlanBasis, pool: Pool, judge: JudgeDesign, terms: Terms) -> Prediction:
    """Return what the plan says of a round of the pool, as JSON. Raises CounterpartError for a round of first hits."""
    if judge.judge == "first-hits":
        raise CounterpartError(
            "A round of first hits gives R@1 exactly: a plan predicts audits and rounds of all pairs."
        )
    spread = sum(queries_of(pool)) / basis.queries
    design = design_of(basis, terms, judge.share * spread, spread)
    return {"at": clock.now().isoformat(timespec="seconds"), "basis": str(basis), **_figures(design, terms)}


def _figures(design: AuditDesign, terms: Terms) -> Prediction:
    return {
        "share": round(design.share, 4),
        "spread": round(design.spread, 4),
        "hits": design.hits,
        "cost": str(design.cost),
        "hours": round(design.hours, 2),
        "wage": str(terms.wage),
        "matches": round(design.matches, 1),
        "question": design.question,
        "widths": [[side, metric, round(width, 5)] for (side, metric), width in design.widths.items()],
    }


def keep_for(round: Round, basis: PlanBasis, *, actor: str) -> Prediction:
    """Keep what the plan says of a packed round in its summary.

    Raises CounterpartError for a round that has a prediction, that was judged already, or that asks the first hits.
    """
    if kept := round.summary.get(PREDICTED):
        raise CounterpartError(
            f"Round {round} has a prediction of {kept['at'][:10]}, from {kept['basis']}. It stays as it is."
        )
    if is_judged(round):
        raise CounterpartError(f"Round {round} is judged already: keep a prediction before the first judgment.")
    require_pairs(round)
    judge = JudgeDesign.from_json(round.summary.get("judge"))
    return keep_prediction(round, predict(basis, round.pool, judge, terms_of(round)), actor=actor)


def compare_with_real(round: Round, basis: PlanBasis) -> list[Compared]:
    """Return each predicted figure of a round with that of its judgments, the ``basis``; or nothing."""
    predicted = round.summary.get(PREDICTED)
    return list(_compared(round, predicted, basis)) if predicted else []


def _compared(round: Round, predicted: Prediction, basis: PlanBasis) -> Iterator[Compared]:
    measured = basis.measured
    spent = Assignment.objects.filter(hit__round=round, submitted_at__isnull=False)
    active = spent.aggregate(sum=Sum("active_seconds"))["sum"] or 0
    hours = active / 3600
    paid = float(commitment_of(round).gone)
    yield Compared("HITs", predicted["hits"], round.summary["hits"], "count")
    yield Compared("cost", float(predicted["cost"]), paid, "dollars")
    yield Compared("active hours", predicted["hours"], hours, "hours")
    yield Compared("wage an hour", float(predicted["wage"]), _wage_of(round, hours), "dollars")
    yield Compared("matches", predicted["matches"], measured.matches if measured else None, "count")
    of_question = measured.widths[predicted.get("question", "like")] if measured else {}
    for side, metric, width in predicted["widths"]:
        real = of_question.get((side, metric))
        yield Compared(f"width of {metric}, {Direction(side).label}", width, real, "width")


def _wage_of(round: Round, hours: float) -> float | None:
    """Return the rewards of the work that was submitted by its active hours."""
    timed = Assignment.objects.filter(hit__round=round, submitted_at__isnull=False, active_seconds__isnull=False)
    return float(timed.count() * round.reward) / hours if hours else None
