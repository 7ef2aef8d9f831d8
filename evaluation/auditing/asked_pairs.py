"""What a round asks beside the pairs of its pool: first items of further models, and likely matches."""

from collections.abc import Mapping, Sequence

from core.errors import CounterpartError
from corpus.matches import known_pairs
from counterpart_metrics import Rankings
from evaluation.models import Run
from evaluation.scores.model_rankings import first_pairs, places_of_run
from hits.judge_designs import JudgeDesign, audited_queries
from hits.models import Item, Round, TopUp
from mitl.models import Direction

Pairs = set[tuple[int, int]]
"""Ids of image and caption."""
Places = Mapping[Direction, Rankings]


def unasked_pairs(
    round: Round, design: JudgeDesign, models: Mapping[str, Places], *, without: Sequence[int] = ()
) -> dict[str, Pairs]:
    """Return the pairs in the first places of each model's lists that the round does not ask, though by its ``design``
    it asks others of the same query; those that the pool goes beyond are known. ``without``: numbers of HITs that do
    not count."""
    depth = 1 if design.judge == "first-hits" else round.pool.top_k
    asked = asked_pairs(round, without) | _known_pairs(round)
    return {
        name: of_drawn_queries(round, design, first_pairs(round.pool, places, depth)) - asked
        for name, places in models.items()
    }


def waiting_hits(round: Round) -> list[int]:
    """Return the numbers of the HITs of unfinished top-ups of new pairs."""
    return list(round.hits.filter(top_up__in=TopUp.objects.unfinished()).values_list("number", flat=True))


def added_pairs(round: Round, *, finished: bool = False) -> Pairs:
    """Return the first pairs of the models that the round was topped up for, of all its pool's queries: those of
    audited queries were asked. ``finished``: only of top-ups whose answers are in.

    Raises CounterpartError if the rankings of a model were not kept.
    """
    pool = round.pool
    counting = round.top_ups.exclude(rankings={})
    if finished:
        counting = counting.exclude(pk__in=TopUp.objects.unfinished())
    pairs: Pairs = set()
    for rankings in counting.values_list("rankings", flat=True):
        for model, sha256 in rankings.items():
            run = Run.objects.filter(collection=pool.collection, model=model, sha256=sha256).exclude(file="").first()
            if run is None:
                raise CounterpartError(
                    f"The rankings of {model}, for which round {round} was topped up, are gone. Register the same file "
                    "again."
                )
            pairs |= first_pairs(pool, places_of_run(run, pool.top_k), pool.top_k)
    return pairs


def opened_pairs(round: Round) -> Pairs:
    """Return the pairs that the order of likely matches has opened, in finished batches: those that were asked, and
    those of audited queries, whose labels were known."""
    batches = round.top_ups.filter(opened__isnull=False).exclude(pk__in=TopUp.objects.unfinished())
    asked = Item.objects.filter(hit__top_up__in=batches, control=None)
    collection = round.pool.collection
    images, captions = (dict(side.values_list("key", "pk")) for side in (collection.images, collection.captions))
    audited = [pair for opened in batches.values_list("opened", flat=True) for pair in opened or ()]
    return {
        *asked.order_by().values_list("image_id", "caption_id"),
        *((images[image], captions[caption]) for image, caption in audited),
    }


def of_drawn_queries(round: Round, design: JudgeDesign, pairs: Pairs) -> Pairs:
    """Return the pairs whose image or caption is an audited query; of a round that is no audit, all."""
    if design.judge != "audit":
        return pairs
    drawn = audited_queries(round.pool, design, round.seed)
    images = set(drawn.get(Direction.IMAGE_TO_CAPTION, {}).values())
    captions = set(drawn.get(Direction.CAPTION_TO_IMAGE, {}).values())
    return {(image, caption) for image, caption in pairs if image in images or caption in captions}


def _known_pairs(round: Round) -> Pairs:
    pool = round.pool
    return set(map(tuple, known_pairs(pool.collection, pool.beyond).tolist())) if pool.beyond else set()


def asked_pairs(round: Round, without: Sequence[int] = ()) -> Pairs:
    items = Item.objects.filter(hit__round=round, control=None).exclude(hit__number__in=without)
    return set(items.order_by().values_list("image_id", "caption_id"))
