"""How well an audit of a part of the demo's queries would have scored the annotators, and what it would have saved."""

from math import ceil

from django.db.models import Q

from counterpart_statistics.auditing.model_scores import ModelEstimate
from evaluation.auditing.round_estimates import EstimateParameters, estimate_round
from hits.judge_designs import JudgeDesign, audited_queries
from hits.models import Round
from mitl.models import Direction

SHARE = 0.3
METRIC = "mAP@R"


def savings(round: Round) -> str:
    """Return a table of each annotator's mAP@R from all judgments and from an audit, and the money the audit saves."""
    counted, estimated = (
        {(estimate.direction, estimate.model): estimate for estimate in estimate_round(round, parameters).models}
        for parameters in (EstimateParameters(metric=(METRIC,), audit_share=share) for share in (None, SHARE))
    )
    pairs, hits = _cost(round)
    each = round.seat_cost * round.replication
    full = round.summary["hits"]
    lines = [
        f"{METRIC} from all {round.summary['pairs']:,} pairs, and estimated from {pairs:,} of them (all pairs of "
        f"{SHARE:.0%} of the queries):",
        f"${each * (full - hits):,.2f} of ${each * full:,.2f} saved. In brackets the 95% interval, for these queries.",
        f"{'':<28}{'all judged':>24}{'estimated':>24}",
    ]
    for direction in Direction:
        label = direction.label
        for (side, model), estimate in counted.items():
            if side == direction:
                lines.append(f"{label:<18}{model:<10}{_figure(estimate):>24}{_figure(estimated[side, model]):>24}")
                label = ""
    return "\n".join(lines)


def _figure(estimate: ModelEstimate) -> str:
    found = estimate.estimate
    return f"{found.value:.3f}" + (f" [{found.low:.3f}, {found.high:.3f}]" if estimate.has_interval else "")


def _cost(round: Round) -> tuple[int, int]:
    """Return the pairs and HITs of the audit."""
    drawn = audited_queries(round.pool, JudgeDesign("audit", SHARE), seed=0)
    images, captions = (drawn.get(direction, {}).values() for direction in Direction)
    asked = round.pool.proposals.filter(Q(image__in=images) | Q(caption__in=captions)).order_by()
    pairs = asked.values("image", "caption").distinct().count()
    return pairs, ceil(pairs / round.design["candidates"])
