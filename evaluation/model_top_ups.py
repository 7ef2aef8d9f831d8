"""Top-ups for models: the first items of registered rankings that a round has not asked, with their cost."""

from collections.abc import Collection as Names
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import QuerySet

from annotation.money.budget import locked, room
from annotation.platforms import want_seats_posted
from core.errors import CounterpartError, some_of
from core.progress import Progress, silent
from core.text import counted
from corpus.models import Caption, Image
from evaluation.metrics import Rankings
from evaluation.model_rankings import first_pairs, places_of_run, registered_runs
from evaluation.models import Run
from hits.controls import Keys, avoided_pairs
from hits.judge_designs import JudgeDesign, audited_queries
from hits.models import Item, Round, Seat, TopUp
from hits.packing.plan import Plan
from hits.task_types import require_pairs
from hits.top_ups import add_top_up, pack_top_up
from mitl.models import Direction

Pairs = set[tuple[int, int]]
"""Ids of image and caption."""
Places = Mapping[Direction, Rankings]


@dataclass(frozen=True)
class ModelTopUp:
    """What a round would ask so that registered models are scored as its annotators are.

    Attributes:
        runs: of the models whose first items lack.
        pairs: number of pairs that would be asked, each as often as the round's own.
        cost: US dollars, with the fees of the round's channel.
    """

    round: Round
    runs: tuple[Run, ...]
    pairs: int
    plan: Plan
    number: int
    avoided: Keys
    cost: Decimal

    @property
    def models(self) -> list[str]:
        return [run.model for run in self.runs]


def plan_top_up(round: Round, models: Names[str] = (), *, progress: Progress = silent) -> ModelTopUp:
    """Plan HITs for the first items of registered models (default: all of the collection) that the round has not asked:
    as deep as its pool is, of its audited queries, or of all queries where it asks all pairs; first hits alone where it
    asks those.

    Raises CounterpartError for a closed round, unknown models, and where nothing lacks.
    """
    require_pairs(round)
    if round.state == "closed":
        raise CounterpartError(f"Round {round} is closed: no HIT can be added. Plan a new round of its pool.")
    runs = registered_runs(round.pool)
    unknown = [name for name in models if name not in runs]
    if unknown:
        raise CounterpartError(
            f"{counted(len(unknown), 'model is', 'models are')} not registered beside the pool: {some_of(unknown)}; "
            f"there are {some_of(list(runs)) or 'none yet'}. Register some with --rankings FILE."
        )
    chosen = {name: run for name, run in runs.items() if name in (models or runs)}
    progress("reading rankings", 0, None)
    depth = 1 if _design(round).judge == "first-hits" else round.pool.top_k
    lacking = unasked_pairs(round, {name: places_of_run(run, depth) for name, run in chosen.items()})
    pairs = _without_excluded({pair for one in lacking.values() for pair in one})
    if not pairs:
        raise CounterpartError(
            f"Round {round} lacks no pair of {some_of(list(chosen)) or 'registered models'}: nothing to add."
        )
    number = round.top_ups.count() + 1
    avoided = avoided_pairs(round.pool.collection)
    plan = pack_top_up(round, sorted(pairs), number=number, avoided=avoided)
    cost = round.seat_cost * plan.n_hits * round.replication
    added = tuple(run for name, run in chosen.items() if lacking[name])
    return ModelTopUp(round, added, len(pairs), plan, number, avoided, cost)


@transaction.atomic
def add_model_top_up(planned: ModelTopUp, *, actor: str) -> None:
    """Add the planned HITs to the round, with a seat for each answer set that its own HITs have, and have them posted.

    Raises CounterpartError where the round has changed since, and where its ceiling does not leave the cost.
    """
    current = locked(planned.round)
    if current.state == "closed" or current.top_ups.count() + 1 != planned.number:
        raise CounterpartError(f"Round {current} has changed since this top-up was planned. Plan it again.")
    left = room(current, beside_waiting=True)
    if planned.cost > left:
        raise CounterpartError(
            f"The top-up costs ${planned.cost:,}; round {current} has ${max(left, Decimal(0)):,} left below its "
            f"ceiling of ${current.ceiling:,}. Raise it with set_ceiling."
        )
    add_top_up(
        current,
        planned.plan,
        number=planned.number,
        avoided=planned.avoided,
        seats=current.replication,
        rankings={run.model: run.sha256 for run in planned.runs},
        actor=actor,
    )
    want_seats_posted(current)


def unasked_pairs(round: Round, models: Mapping[str, Places], *, without: Sequence[int] = ()) -> dict[str, Pairs]:
    """Return the pairs in the first places of each model's lists that the round does not ask, though it asks others of
    the same query: of its audited queries, or of all. ``without``: numbers of HITs that do not count."""
    design, pool = _design(round), round.pool
    depth = 1 if design.judge == "first-hits" else pool.top_k
    drawn = audited_queries(pool, design if design.judge == "audit" else JudgeDesign(), round.seed)
    images = set(drawn.get(Direction.IMAGE_TO_CAPTION, {}).values())
    captions = set(drawn.get(Direction.CAPTION_TO_IMAGE, {}).values())
    items = Item.objects.filter(hit__round=round, control=None).exclude(hit__number__in=without)
    asked = set(items.order_by().values_list("image_id", "caption_id"))
    return {
        name: {
            (image, caption)
            for image, caption in first_pairs(pool, places, depth) - asked
            if image in images or caption in captions
        }
        for name, places in models.items()
    }


def waiting_hits(round: Round) -> list[int]:
    """Return the numbers of the HITs of unfinished top-ups for models. Until they are done, the round is estimated
    over the pool without them."""
    return list(round.hits.filter(top_up__in=_unfinished(round)).values_list("number", flat=True))


def added_pairs(round: Round) -> Pairs:
    """Return the first pairs of the models that the round was topped up for, of all its pool's queries: those of
    audited queries were asked. Raises CounterpartError if their rankings were not kept."""
    pool = round.pool
    pairs: Pairs = set()
    finished = round.top_ups.exclude(rankings={}).exclude(pk__in=_unfinished(round))
    for rankings in finished.values_list("rankings", flat=True):
        for model, sha256 in rankings.items():
            run = Run.objects.filter(collection=pool.collection, model=model, sha256=sha256).exclude(file="").first()
            if run is None:
                raise CounterpartError(
                    f"The rankings of {model}, for which round {round} was topped up, are gone. Register the "
                    "same file again."
                )
            pairs |= first_pairs(pool, places_of_run(run, pool.top_k), pool.top_k)
    return pairs


def _unfinished(round: Round) -> QuerySet[TopUp]:
    unfilled = Seat.objects.filter(round=round, state__in=Seat.UNFILLED)
    return round.top_ups.exclude(rankings={}).filter(hits__in=unfilled.values("hit"))


def _design(round: Round) -> JudgeDesign:
    return JudgeDesign.from_json(round.summary.get("judge"))


def _without_excluded(pairs: Iterable[tuple[int, int]]) -> Pairs:
    images, captions = (
        set(side.objects.filter(excluded_at__isnull=False).values_list("pk", flat=True)) for side in (Image, Caption)
    )
    return {(image, caption) for image, caption in pairs if image not in images and caption not in captions}
