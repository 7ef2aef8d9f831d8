"""What plans rest on: the judgments of a round, or labels of a pool that are simulated from stated priors."""

from collections.abc import Iterator

from django.db.models import Q

from annotation.judging.wage_terms import fair_reward_suggested
from annotation.work.judgments import votes_in
from core.errors import CounterpartError
from core.progress import Progress, silent
from core.text import counted
from counterpart_statistics.auditing.plan_basis import (
    DirectionBasis,
    PairCounts,
    PlanBasis,
    Prior,
    matches_of,
    measured_of,
    side_of,
    simulated,
)
from counterpart_statistics.estimation.intervals import FEWEST
from counterpart_statistics.selection.pooled_queries import WholeQueries
from evaluation.auditing.estimation_inputs import load_pooled_queries
from evaluation.auditing.whole_queries import whole_queries
from hits.models import Round
from hits.packing.designs import DEFAULT, DESIGNS
from hits.task_types import TASK_TYPES, require_pairs
from mitl.models import Direction, Pool

AUDITED_TASKS = [name for name, task in TASK_TYPES.items() if task.on_pairs and task.group == 1]
"""The types of task whose rounds may ask a part of a pool's pairs."""


def planned_round(name: str) -> Round:
    """Return the round of this name; else one that is not stored, of the pool of this name, with the composition and
    pay of ``unpacked_round``.

    Raises CounterpartError where there is neither.
    """
    if found := Round.objects.select_related("pool__collection").filter(name=name).first():
        return found
    if pool := Pool.objects.select_related("collection").filter(name=name).first():
        return unpacked_round(pool)
    raise CounterpartError(f"No round or pool is named {name}. Name a round, or a pool that `pool` has made.")


def unpacked_round(pool: Pool) -> Round:
    """Return a round of the pool that is not stored, with the composition and pay of its latest that may be an audit;
    without one, with the usual composition and the reward that reaches the wage floor."""
    latest = pool.rounds.filter(task__in=AUDITED_TASKS).order_by("-created_at").first()
    kept = ("task", "design", "reward", "reasons", "replication")
    terms = {name: getattr(latest, name) for name in kept} if latest else {"reward": fair_reward_suggested({})}
    return Round(**{"pool": pool, "design": DESIGNS[DEFAULT].as_json(), "seed": 0, "name": pool.name} | terms)


def is_judged(round: Round) -> bool:
    """Whether a judgment of the round counts."""
    return bool(round.pk) and votes_in(round.pk).exists()


def basis_of(round: Round, prior: Prior, *, merge: str = "original", progress: Progress = silent) -> PlanBasis:
    """Return what the judgments of the round show; without any, what the prior says of its pool.

    Raises CounterpartError as ``whole_queries`` does, and for a pool without three queries and pairs to ask.
    """
    require_pairs(round)
    judged = is_judged(round)
    known = (
        whole_queries(round, merge=merge, progress=progress) if judged else _simulated(round, prior, merge, progress)
    )
    wholes = list(known)
    sides = _sides(wholes, progress)
    return PlanBasis(
        f"round {round}" if judged else f"pool {round.pool}",
        sides,
        *_pairs_of(round.pool),
        *matches_of(wholes),
        prior=None if judged else prior,
        measured=measured_of(wholes) if judged else None,
    )


def _simulated(round: Round, prior: Prior, merge: str, progress: Progress) -> Iterator[WholeQueries]:
    """Yield the queries of each direction with labels that the prior draws, a random part of them as the pilot."""
    pool = round.pool
    pooled = load_pooled_queries(pool, None, merge=merge, progress=progress)
    for stream, (direction, queries) in enumerate(pooled.items()):
        yield simulated(round.name, direction, queries, prior, top=pool.top_k, seed=round.seed, stream=stream)


def _sides(wholes: list[WholeQueries], progress: Progress) -> dict[str, DirectionBasis]:
    sides = {}
    for whole in wholes:
        progress("planning", 0, None)
        direction = Direction(whole.direction)
        if len(whole.queries.keys) < FEWEST or not whole.queries.asked.any():
            raise CounterpartError(
                f"The pool has {counted(len(whole.queries.keys), 'query', 'queries')} ({direction.label}) and "
                f"{counted(int(whole.queries.asked.sum()), 'pair')} to ask. A plan needs {FEWEST} queries, and pairs."
            )
        sides[direction.value] = side_of(whole)
    if not sides:
        raise CounterpartError("The pool's annotators rank no direction that it pools. Retrieve and pool again.")
    return sides


def _pairs_of(pool: Pool) -> tuple[PairCounts, int]:
    """Return the pairs of the pool, and how many an annotator ranks first."""
    images = Q(image__in=pool.sample.images.all())
    captions = Q(caption__in=pool.sample.captions.all())
    asking = [images, captions]
    sides = [side if one.value in pool.directions else Q(pk=None) for side, one in zip(asking, Direction, strict=True)]
    proposed = pool.proposals.order_by()

    def count(condition: Q) -> int:
        return proposed.filter(condition).values("image", "caption").distinct().count()

    return PairCounts(count(sides[0] | sides[1]), count(sides[0] & sides[1])), count(Q(rank=1))
