"""The pairs that a round asks: of its pool, first items of further models, and likely matches. Pairs are codes."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from core.errors import CounterpartError
from corpus.matches import known_pairs
from counterpart_metrics import Rankings
from counterpart_statistics.judged import PAIR
from counterpart_statistics.pair_codes import NO_PAIRS, Ids, codes_of, ids_in, pair_codes
from dataset.judged.answer_tables import with_ids
from evaluation.models import Run
from evaluation.scores.model_rankings import first_pairs, places_of_run
from hits.judge_designs import JudgeDesign, audited_queries
from hits.models import Item, Round, TopUp
from mitl.models import Direction

Places = Mapping[Direction, Rankings]


def asked_pairs(round: Round, *, finished: bool = False) -> Ids:
    """Return the pairs that the round asks. ``finished``: without those of top-ups that wait for answers."""
    items = Item.objects.filter(hit__round=round, control=None)
    if finished:
        items = items.exclude(hit__top_up__in=TopUp.objects.unfinished())
    return np.unique(codes_of(items.order_by().values_list("image_id", "caption_id")))


def unasked_pairs(
    round: Round, design: JudgeDesign, models: Mapping[str, Places], *, finished: bool = False
) -> dict[str, Ids]:
    """Return the pairs in the first places of each model's lists that the round does not ask, though by its ``design``
    it asks others of the same query; those that the pool goes beyond are known. ``finished``: as of ``asked_pairs``."""
    pool = round.pool
    depth = 1 if design.judge == "first-hits" else pool.top_k
    known = pair_codes(*known_pairs(pool.collection, pool.beyond).T) if pool.beyond else NO_PAIRS
    left_out = np.union1d(asked_pairs(round, finished=finished), known)
    return {
        name: np.setdiff1d(of_drawn_queries(round, design, first_pairs(pool, places, depth)), left_out)
        for name, places in models.items()
    }


def added_pairs(round: Round, *, finished: bool = False) -> Ids:
    """Return the first pairs of the models that the round was topped up for, of all its pool's queries: those of
    audited queries were asked. ``finished``: only of top-ups whose answers are in.

    Raises CounterpartError if the rankings of a model were not kept.
    """
    pool = round.pool
    counting = round.top_ups.exclude(rankings={})
    if finished:
        counting = counting.exclude(pk__in=TopUp.objects.unfinished())
    pairs = NO_PAIRS
    for rankings in counting.values_list("rankings", flat=True):
        for model, sha256 in rankings.items():
            run = Run.objects.filter(collection=pool.collection, model=model, sha256=sha256).exclude(file="").first()
            if run is None:
                raise CounterpartError(
                    f"The rankings of {model}, for which round {round} was topped up, are gone. Register the same file "
                    "again."
                )
            pairs = np.union1d(pairs, first_pairs(pool, places_of_run(run, pool.top_k), pool.top_k))
    return pairs


def opened_pairs(round: Round) -> Ids:
    """Return the pairs that the order of likely matches has opened, in finished batches: those that were asked, and
    those of audited queries, whose labels were known."""
    batches = round.top_ups.filter(opened__isnull=False).exclude(pk__in=TopUp.objects.unfinished())
    asked = Item.objects.filter(hit__top_up__in=batches, control=None).order_by()
    audited = [pair for opened in batches.values_list("opened", flat=True) for pair in opened or ()]
    table = with_ids(pd.DataFrame(audited, columns=PAIR), round.pool.collection)
    return np.union1d(codes_of(asked.values_list("image_id", "caption_id")), pair_codes(*table[PAIR].to_numpy().T))


def of_drawn_queries(round: Round, design: JudgeDesign, pairs: Ids) -> Ids:
    """Return the pairs whose image or caption is an audited query; all pairs unless the round is an audit."""
    if design.judge != "audit":
        return pairs
    drawn = audited_queries(round.pool, design, round.seed)
    sides = zip(Direction, ids_in(pairs), strict=True)
    is_drawn = [np.isin(ids, list(drawn.get(direction, {}).values())) for direction, ids in sides]
    return pairs[np.logical_or(*is_drawn)]
