"""Live effect: what the judgments of a round of all pairs say of the models at each look, and whether their ranking is
settled; of a finished round, where it could have stopped."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from math import isnan, nan
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from django import forms
from django.db.models import Max
from numpy.typing import NDArray

from annotation.work.judgments import votes_in
from core.errors import CounterpartError
from core.parameters import ConfidenceField, Option, Parameters
from core.progress import Progress, silent, tracked
from core.seeds import SeedField
from core.text import counted
from counterpart_statistics.aggregation import POSITIVE, Method, Ties, conclude
from counterpart_statistics.correlation import tau_b
from counterpart_statistics.selection.pooled_queries import GAINS
from counterpart_statistics.settling import Look, Packed, look_at
from dataset.judged.answer_tables import votes_of
from dataset.versions.contents import proposals_of
from evaluation.round_looks import Looks, Saving, arrived, look_sizes, saving_since, waiting_pairs
from evaluation.scores.model_rankings import pair_weights
from hits.models import Item, Round
from hits.question import Level
from hits.rounds.top_ups import design_of
from hits.task_types import require_pairs

Floats = NDArray[np.float64]
Positive = Literal["lenient", "strict", "graded"]


class EffectParameters(Parameters):
    """How scores are computed, and when a ranking counts as settled."""

    method: Annotated[Method, "how votes become verdicts"] = "majority"
    ties: Annotated[Ties, "which of levels with equal shares wins"] = "median"
    seed: Annotated[int, SeedField(help_text="seed of methods that draw random starts")] = 0
    depth: Annotated[int, "score: share of the K best-ranked items that match (1: R@1)", Option(metavar="K")] = 1
    positive: Annotated[
        Positive,
        "levels that match: lenient 1 and 2, strict 1, graded 1 with 2 for a half (equation E.4)",
        Option(name="positive-levels"),
    ] = "lenient"
    places: Annotated[
        int | None,
        forms.IntegerField(
            required=False, min_value=1, help_text="first places that have to be settled (default: all)"
        ),
    ] = None
    margin: Annotated[
        float,
        forms.FloatField(min_value=0, max_value=1, help_text="differences up to X, in 0..1, count as none"),
        Option(metavar="X"),
    ] = 0
    confidence: Annotated[
        float, ConfidenceField(help_text="confidence of all statements together"), Option(metavar="P")
    ] = 0.95
    looks: Annotated[int, forms.IntegerField(min_value=1, help_text="number of looks, evenly spread over the HITs")] = (
        20
    )


@dataclass(frozen=True)
class Moment:
    """One look at the ``models``: after the first ``look.hits`` HITs, all of them judged ``at`` that time; ``tau`` is
    tau-b of the scores with those of the look before, None where it is undefined."""

    models: tuple[str, ...]
    look: Look
    at: datetime
    tau: float | None
    is_settled: bool

    @property
    def scores(self) -> list[dict[str, Any]]:
        """The score of each model with its interval, best first."""
        look = self.look
        values = zip(self.models, look.scores.tolist(), look.low.tolist(), look.high.tolist(), strict=True)
        rows = [{"model": model, "score": score, "low": low, "high": high} for model, score, low, high in values]
        return [rows[place] for place in look.order.tolist()]

    @property
    def ranking(self) -> str:
        """``A > B = C`` where B and C are certainly equal."""
        order = self.look.order.tolist()
        ties = set(self.look.ties())
        following = [f" {'=' if pair in ties else '>'} {self.models[pair[1]]}" for pair in pairwise(order)]
        return "".join([self.models[order[0]], *following])


@dataclass(frozen=True)
class Effect(Looks[Moment]):
    """The models of a round of all pairs and what each look says of them; the units are the HITs of its plan.

    Attributes:
        models: names of the M models.
        unpooled: (M,) share of each model's best-ranked items that are not in the pool: never judged here, they count
            as no match.
    """

    round: Round
    settings: EffectParameters
    models: tuple[str, ...]
    unpooled: Floats

    @property
    def gap(self) -> str:
        """Say which HIT keeps later ones from counting; empty where none does."""
        if not self.waiting:
            return ""
        are = counted(self.waiting, "later HIT is judged", "later HITs are judged")
        if self.round.state == "closed":
            return f"{are} but cannot count: the round was closed before HIT {self.counting + 1:,} was judged."
        return f"{are} and can count only once HIT {self.counting + 1:,} is."

    @property
    def settled_at(self) -> Moment | None:
        """The first look at which the ranking was settled. The round could have been closed then."""
        return next((moment for moment in self.looks if moment.is_settled), None)

    @property
    def is_settled(self) -> bool:
        return self.settled_at is not None

    @cached_property
    def saving(self) -> Saving | None:
        """What stopping where the ranking was settled would have saved; None where it was not."""
        return saving_since(self.round, self.settled_at.at) if self.settled_at else None

    def open_places(self) -> list[tuple[str, str]]:
        """Return the models that follow each other and whose order is open at the last look."""
        return self._named(self.last.look.open_places(self.settings.places)) if self.last else []

    def ties(self) -> list[tuple[str, str]]:
        """Return the models that follow each other and are certainly equal at the last look."""
        return self._named(self.last.look.ties(self.settings.places)) if self.last else []

    def _named(self, pairs: list[tuple[int, int]]) -> list[tuple[str, str]]:
        return [(self.models[one], self.models[other]) for one, other in pairs]


def measure_effect(round: Round, settings: EffectParameters | None = None, *, progress: Progress = silent) -> Effect:
    """Return the scores of the round's models at each look, as its judgments arrived.

    Only the longest run of judged HITs from the first counts, in the order of their numbers. That order is random,
    while the order in which HITs are finished is not: a worker may need longer for a HIT of hard pairs.

    Raises CounterpartError for an audit, for fewer than two models, and for a depth beyond what the pool asked.
    """
    require_pairs(round)
    if design_of(round).judge == "audit":
        raise CounterpartError(
            f"Round {round} is an audit: most pairs of its pool are never asked, so that a count of matches "
            "says nothing about the models. See its estimates: analyse live, or Estimates on its page."
        )
    settings = settings or EffectParameters()
    plan = _Plan.of(round, settings.depth)
    counting, waiting = arrived(plan.complete(round))
    moments: list[Moment] = []
    times = plan.times(round)
    verdicts = _verdicts(round, plan, settings, progress)
    sizes = look_sizes(counting, settings.looks) if counting else ()
    for hits in tracked(sizes, "looks", progress, every=1):
        votes_at = [at for hit, at in times.items() if hit < hits]
        if not votes_at:  # no picture of these HITs did load
            continue
        look = look_at(plan.packed, verdicts(hits), hits, alpha=1 - settings.confidence, margin=settings.margin)
        tau = tau_b(look.scores, moments[-1].look.scores) if moments else nan
        defined = None if isnan(tau) else tau
        moments.append(Moment(plan.models, look, max(votes_at), defined, look.is_settled(settings.places)))
    looks = tuple(moments)
    return Effect(plan.packed.n_hits, counting, waiting, looks, round, settings, plan.models, plan.unpooled)


@dataclass(frozen=True)
class _Plan:
    """A round's planned HITs and what their pairs count for the models. ``pairs`` (P, 2) are ids of image and caption,
    ascending; ``keys`` are theirs in the source data."""

    models: tuple[str, ...]
    unpooled: Floats
    packed: Packed
    pairs: NDArray[np.int64]
    keys: pd.MultiIndex

    @classmethod
    def of(cls, round: Round, depth: int) -> "_Plan":
        planned = Item.objects.filter(hit__round=round, hit__top_up=None, control=None)
        columns = ("image_id", "caption_id", "hit__number", "image__key", "caption__key")
        rows = list(planned.order_by("image", "caption").values_list(*columns))
        pairs = np.array([row[:2] for row in rows], np.int64).reshape(-1, 2)
        hits = np.array([row[2] for row in rows], np.int64) - 1
        models = pair_weights(round, pairs, depth)
        if len(models) < 2:
            raise CounterpartError(
                f"Round {round} ranks {counted(len(models), 'model')}: a ranking needs two. Pool more annotators or "
                "register runs."
            )
        weights = np.array(list(models.values()))
        sizes = np.bincount(hits)
        n_full = int((sizes == round.design["candidates"]).sum())
        packed = Packed(weights, hits, len(sizes), n_full)
        keys = pd.MultiIndex.from_arrays([[row[3] for row in rows], [row[4] for row in rows]])
        return cls(tuple(models), 1 - weights.sum(axis=1), packed, pairs, keys)

    def complete(self, round: Round) -> NDArray[np.bool_]:
        """Return (n_hits,) whether every wanted vote on the HIT's pairs is in."""
        waiting = waiting_pairs(round)
        done = np.ones(self.packed.n_hits, bool)
        done[[hit for pair, hit in self._by_pair() if pair in waiting]] = False
        return done

    def times(self, round: Round) -> dict[int, datetime]:
        """Return, for each HIT with counted votes on its pairs, when the last of them was given."""
        judged = votes_in(round)
        last = {
            (image, caption): at
            for image, caption, at in judged.values_list("image_id", "caption_id").annotate(at=Max("at"))
        }
        times: dict[int, datetime] = {}
        for pair, hit in self._by_pair():
            if pair in last:
                times[hit] = max(last[pair], times.get(hit, last[pair]))
        return times

    def _by_pair(self) -> Iterator[tuple[tuple[int, int], int]]:
        return zip(map(tuple, self.pairs.tolist()), self.packed.hits.tolist(), strict=True)


def _verdicts(round: Round, plan: _Plan, settings: EffectParameters, progress: Progress) -> Callable[[int], Floats]:
    """Return a function of the number of HITs that gives what each pair's verdict counts (P,), 0.5 without one.

    Verdicts by majority depend on a pair's own votes alone, so they are the same at every look. Other methods learn
    from the votes on other pairs too; they are given those on the first HITs alone, as they were known then.
    """
    votes = votes_of(round, progress=progress)
    proposals = proposals_of([round]) if settings.method == "consensus" else None
    if settings.positive == "graded":
        worth = dict(zip(Level.values, GAINS, strict=True))
    else:
        worth = {level: float(level in POSITIVE[settings.positive]) for level in Level.values}
    hit_of = pd.Series(plan.packed.hits, index=plan.keys)
    candidate = (votes["control"] == "").to_numpy()
    own = pd.MultiIndex.from_frame(votes[["image", "caption"]])
    known_at = np.where(candidate, hit_of.reindex(own).fillna(plan.packed.n_hits).to_numpy(), votes["hit"] - 1)

    def values(hits: int) -> Floats:
        known = votes[known_at < hits]
        table = conclude(known, method=settings.method, ties=settings.ties, proposals=proposals, seed=settings.seed)
        levels = pd.Series(table["level"].to_numpy(), index=pd.MultiIndex.from_frame(table[["image", "caption"]]))
        return np.asarray(levels.map(worth).reindex(plan.keys).fillna(0.5).to_numpy(), float)

    if settings.method != "majority":
        return values
    everything: list[Floats] = []

    def unchanging(hits: int) -> Floats:
        if not everything:
            everything.append(values(plan.packed.n_hits))
        return everything[0]

    return unchanging
