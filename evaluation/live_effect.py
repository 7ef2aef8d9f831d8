"""Live effect: what a round's judgments say so far of the models, whether their ranking is settled, and the replay of
a finished round: where it could have stopped, and what that would have saved."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import pairwise
from typing import Annotated, Literal, get_args

import numpy as np
import pandas as pd
from django import forms
from django.db.models import Count, Max
from numpy.typing import NDArray

from annotation.models import Assignment, Judgment
from annotation.work.disputes import disputed_pairs
from core.errors import CounterpartError
from core.parameters import ConfidenceField, Option, Parameters, choices
from core.progress import Progress, silent, tracked
from core.seeds import SeedField
from core.text import counted
from dataset.aggregation import METHODS, POSITIVE, TIES, Method, Ties, conclude
from dataset.contents import proposals_of
from dataset.verdicts import votes_of
from evaluation.correlation import tau_b
from evaluation.judged_pairs import WEIGHTS
from evaluation.scores.model_rankings import pair_weights
from evaluation.settling import Look, Packed, look_at
from hits.models import Item, Round, Seat
from hits.question import Level
from hits.task_types import require_pairs
from hits.top_ups import design_of

Floats = NDArray[np.float64]
Positive = Literal["lenient", "strict", "graded"]
POSITIVES: tuple[Positive, ...] = get_args(Positive)


@dataclass(frozen=True, kw_only=True)
class EffectParameters(Parameters):
    """How scores are computed, and when a ranking counts as settled."""

    method: Annotated[Method, forms.ChoiceField(choices=choices(*METHODS), help_text="how votes become verdicts")] = (
        "majority"
    )
    ties: Annotated[
        Ties, forms.ChoiceField(choices=choices(*TIES), help_text="which of levels with equal shares wins")
    ] = TIES[0]
    seed: Annotated[int, SeedField(help_text="seed of methods that draw random starts")] = 0
    depth: Annotated[int, "score: share of the K best-ranked items that match (1: R@1)", Option(metavar="K")] = 1
    positive: Annotated[
        Positive,
        forms.ChoiceField(
            choices=choices(*POSITIVES),
            help_text="levels that match: lenient 1 and 2, strict 1, graded 1 with 2 for a half (equation E.4)",
        ),
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
    """One look: after the first ``look.hits`` HITs, all of them judged ``at`` that time; ``tau`` is tau-b of the scores
    with those of the look before, NaN for the first."""

    look: Look
    at: datetime
    tau: float
    is_settled: bool


@dataclass(frozen=True)
class Effect:
    """The models of a round and what each look says of them.

    Attributes:
        models: names of the M models.
        unpooled: (M,) share of each model's best-ranked items that are not in the pool: never judged here, they count
            as no match.
        n_hits: HITs of the round's plan.
        waiting: HITs that are judged already and come after one that is not; they count once it is judged.
        moments: the looks, none if the first HIT is not judged.
    """

    round: Round
    settings: EffectParameters
    models: tuple[str, ...]
    unpooled: Floats
    n_hits: int
    waiting: int
    moments: tuple[Moment, ...]

    @property
    def last(self) -> Moment | None:
        return self.moments[-1] if self.moments else None

    @property
    def gap(self) -> str:
        """Say which HIT keeps later ones from counting; empty where none does."""
        if not self.waiting:
            return ""
        first = self.last.look.hits + 1 if self.last else 1
        are = counted(self.waiting, "later HIT is judged", "later HITs are judged")
        if self.round.state == "closed":
            return f"{are} but cannot count: the round was closed before HIT {first:,} was judged."
        return f"{are} and can count only once HIT {first:,} is."

    @property
    def settled_at(self) -> Moment | None:
        """The first look at which the ranking was settled. The round could have been closed then."""
        return next((moment for moment in self.moments if moment.is_settled), None)

    @property
    def is_settled(self) -> bool:
        return self.settled_at is not None

    def open_places(self) -> list[tuple[str, str]]:
        """Return the models that follow each other and whose order is open at the last look."""
        return self._named(self.last.look.open_places(self.settings.places)) if self.last else []

    def ties(self) -> list[tuple[str, str]]:
        """Return the models that follow each other and are certainly equal at the last look."""
        return self._named(self.last.look.ties(self.settings.places)) if self.last else []

    def _named(self, pairs: list[tuple[int, int]]) -> list[tuple[str, str]]:
        return [(self.models[one], self.models[other]) for one, other in pairs]

    def ranking(self, moment: Moment) -> str:
        """Return the ranking at a look: ``A > B = C`` where B and C are certainly equal."""
        order = moment.look.order.tolist()
        ties = set(moment.look.ties())
        following = [f" {'=' if pair in ties else '>'} {self.models[pair[1]]}" for pair in pairwise(order)]
        return "".join([self.models[order[0]], *following])


@dataclass(frozen=True)
class Saving:
    """What a round that stopped at a time would have saved: answer sets that were begun later, and their cost."""

    hits: int
    answer_sets: int
    dollars: Decimal


def measure_effect(round: Round, settings: EffectParameters | None = None, *, progress: Progress = silent) -> Effect:
    """Return the scores of the round's models at each look, as its judgments arrived.

    Only the longest run of judged HITs from the first counts, in the order of their numbers. That order is random,
    while the order in which HITs are finished is not: a worker may need longer for a HIT of hard pairs.

    Raises CounterpartError for an audit, for fewer than two models, and for a depth beyond what the pool asked.
    """
    require_pairs(round)
    if design_of(round).judge == "audit":
        raise CounterpartError(
            f"Round {round} is an audit: most pairs of its pool are never asked, so that a count of matches tells "
            "nothing of the models. See its estimates: analyse live, or Estimates on its page."
        )
    settings = settings or EffectParameters()
    plan = _Plan.of(round, settings.depth)
    done = plan.complete(round)
    first_open = int(np.argmin(done)) if not done.all() else len(done)
    counts = np.unique(np.linspace(first_open / settings.looks, first_open, settings.looks).round().astype(int))
    moments: list[Moment] = []
    times = plan.times(round)
    verdicts = _verdicts(round, plan, settings, progress)
    for hits in tracked([count for count in counts.tolist() if count], "looks", progress, every=1):
        votes_at = [at for hit, at in times.items() if hit < hits]
        if not votes_at:  # no picture of these HITs did load
            continue
        look = look_at(plan.packed, verdicts(hits), hits, alpha=1 - settings.confidence, margin=settings.margin)
        tau = tau_b(look.scores, moments[-1].look.scores) if moments else float("nan")
        moments.append(Moment(look, max(votes_at), tau, look.is_settled(settings.places)))
    waiting = int(done[first_open:].sum())
    return Effect(round, settings, plan.models, plan.unpooled, plan.packed.n_hits, waiting, tuple(moments))


def saving_of(effect: Effect) -> Saving | None:
    """Return what stopping where the ranking was settled would have saved; None where it was not."""
    stop = effect.settled_at
    if stop is None:
        return None
    later = Assignment.objects.filter(
        hit__round=effect.round, state=Assignment.State.ACCEPTED, leased_at__gt=stop.at
    ).aggregate(sets=Count("pk"), hits=Count("hit", distinct=True))
    return Saving(later["hits"], later["sets"], effect.round.seat_cost * later["sets"])


def waiting_pairs(round: Round) -> set[tuple[int, int]]:
    """Return the pairs (ids of image and caption) that lack a wanted vote: a seat of a HIT that asks them is not
    filled, be it a later HIT that asks the pair again, or they wait for such a HIT."""
    unfilled = Seat.objects.filter(hit__round=round).exclude(state=Seat.State.FILLED).values("hit")
    waiting = set(Item.objects.filter(hit__in=unfilled, control=None).order_by().values_list("image_id", "caption_id"))
    if round.top_up and round.state == "open":
        waiting |= set(disputed_pairs(round))
    return waiting


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
        judged = Judgment.objects.counted().of_candidates().filter(assignment__hit__round=round).order_by()
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
    worth = _worth(settings.positive)
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


def _worth(positive: Positive) -> dict[int, float]:
    if positive == "graded":
        return {level.value: weight for level, weight in WEIGHTS.items()}
    return {level: float(level in POSITIVE[positive]) for level in Level.values}
