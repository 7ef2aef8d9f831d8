"""Judge again: which pairs of a round get further votes, and what they are expected to bring.

Doubtful pairs come by the number of verdicts that further votes are expected to correct; votes that are expected to
change no verdict are not asked. Pairs drawn at random say how sure verdicts of one vote are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

import numpy as np
from django import forms

from annotation.work.judgments import votes_in
from core.errors import CounterpartError
from core.parameters import Option
from core.progress import Progress, silent
from core.seeds import derived_seed
from counterpart_statistics.pair_codes import codes_of
from counterpart_statistics.vote_gains import best_order
from dataset.judged.verdict_files import least_certain
from dataset.judged.verdict_worth import Wrong, wrong_range
from dataset.models import Aggregation, Review, Verdict
from dataset.reviews.random_reviews import Drawn, first_drawn
from evaluation.asking.planned_top_ups import PlannedTopUp, TopUpAct, excluded_sides, require_addable
from hits.models import Item, Round, Seat
from hits.question import Level
from hits.rounds.round_parameters import DollarField
from hits.rounds.top_ups import new_top_up

Pair = tuple[int, int]  # ids of image and caption

MOST = 10_000
"""Pairs of one order."""
EACH = (1, 2, 3)
"""Further votes on a pair of one order. Two votes may correct a verdict where one only makes a tie."""
RANDOM = 0.1
"""Share of the pairs of an order that is drawn at random: the levels of unsure pairs are not those of all."""


@dataclass(frozen=True)
class Again:
    """Further votes on some pairs of a round.

    Attributes:
        votes: further votes on each pair.
        certainty: figures of the round's last aggregation.
        gain: number of wrong verdicts that the votes are expected to correct; None where all pairs are drawn.
        drawn: those of the pairs that were drawn at random, all, or some with doubtful ones.
    """

    pairs: Sequence[Pair]
    votes: int
    certainty: Mapping[str, Any]
    drawn: Sequence[Drawn]
    gain: float | None = None

    @property
    def wrong(self) -> Wrong | None:
        """How many verdicts are wrong; None where no number may be said."""
        return wrong_range(self.certainty)

    @property
    def left(self) -> Wrong | None:
        """How many are after the votes."""
        return None if self.gain is None else wrong_range(self.certainty, corrected=self.gain)

    @property
    def figures(self) -> dict[str, Any]:
        """What a command prints of it, and an event keeps."""
        said = {"wrong": self.wrong, "wrong_after": self.left}
        return {
            "verdicts": self.certainty["verdicts"],
            **{name: one._asdict() for name, one in said.items() if one},
            "votes_each": self.votes,
            "drawn_at_random": len(self.drawn),
        }

    @property
    def called(self) -> list[tuple[int, int, float]]:
        """The drawn pairs, and how probable it is that each matches before the votes: an event keeps that, so that
        what comes of it can be compared."""
        return [
            (one.image, one.caption, float(f"{one.probability if one.is_match else 1 - one.probability:.3f}"))
            for one in self.drawn[:1_000]
        ]


def judge_again(round: Round, budget: Decimal) -> Again:
    """Return the pairs, and the number of votes on each, by which the budget is expected to correct most verdicts.

    Pairs that wait for votes, that a reviewer gave a level, or whose image or caption is excluded get none. Raises
    CounterpartError for a round without verdicts of today, a budget below one HIT, and where no vote would help.
    """
    aggregation = _last_aggregation(round)
    if budget < round.seat_cost:
        raise CounterpartError(f"One answer set of round {round} costs ${round.seat_cost:,}: raise the budget.")
    # More than the budget asks, as some wait for votes or were reviewed.
    known = least_certain(aggregation, 1_000 + 2 * _affordable(round, budget, 1))
    eligible = _eligible(round, [(one.image_id, one.caption_id) for one in known])
    verdicts = [one for one in known if (one.image_id, one.caption_id) in eligible]
    order = best_order(
        np.array([one.probability for one in verdicts]),
        np.array([one.is_match for one in verdicts], dtype=bool),
        {votes: n - int(n * RANDOM) for votes in EACH for n in [_affordable(round, budget, votes)]},
        figures=aggregation.certainty or {},
        given=np.array([one.votes for one in verdicts]),
        lead=np.array([_lead(one) for one in verdicts]) if aggregation.method == "majority" else None,
        tie_is_match=aggregation.ties == "lower",
    )
    if not order.places:
        raise CounterpartError(
            f"No further vote is expected to correct a verdict of round {round}. Review its doubtful pairs instead."
        )
    chosen = [(verdicts[place].image_id, verdicts[place].caption_id) for place in order.places]
    n = int(len(chosen) * RANDOM)
    drawn = [one for one in _drawn(round, aggregation, n + len(chosen)) if one[:2] not in set(chosen)][:n]
    pairs = [*chosen, *(one[:2] for one in drawn)]
    return Again(pairs, order.votes, aggregation.certainty or {}, drawn, order.gain)


def judge_twice(round: Round, n: int) -> Again:
    """Return ``n`` pairs drawn at random from those with one vote, or all there are, to ask one further vote on each.

    Raises CounterpartError as ``judge_again``, and where no pair with one vote is left.
    """
    aggregation = _last_aggregation(round)
    drawn = _drawn(round, aggregation, n, votes=1)
    if not drawn:
        raise CounterpartError(f"Round {round} has no pair of one vote that further votes may be asked on.")
    return Again([one[:2] for one in drawn], 1, aggregation.certainty or {}, drawn)


def _drawn(round: Round, aggregation: Aggregation, n: int, *, votes: int | None = None) -> list[Drawn]:
    """Draw ``n`` verdicts of the round whose pairs may get votes; another order of the round draws others."""
    seed = derived_seed(round.seed, round.top_ups.count() + 1)
    drawn = first_drawn(aggregation, 1_000 + 2 * n, seed=seed, votes=votes)
    eligible = _eligible(round, [one[:2] for one in drawn])
    return [one for one in drawn if one[:2] in eligible][:n]


def _last_aggregation(round: Round) -> Aggregation:
    found = Aggregation.objects.filter(round=round).order_by("-at", "-pk").first()
    if found is None or "silent" not in (found.certainty or {}):
        raise CounterpartError(
            f"Round {round} has no verdicts with probabilities. Aggregate it first (aggregate {round})."
        )
    votes = votes_in(round).count()
    if votes != found.judgments:
        raise CounterpartError(
            f"{votes:,} votes of round {round} count, and its verdicts are by {found.judgments:,}. Aggregate it again "
            f"first (aggregate {round} --method {found.method})."
        )
    return found


def _eligible(round: Round, pairs: Sequence[Pair]) -> set[Pair]:
    """Return those of the pairs that may get further votes."""
    items = Item.objects.filter(hit__round=round, control=None, image__in={image for image, _ in pairs})
    waiting = items.filter(hit__seats__state__in=Seat.UNFILLED).order_by().values_list("image", "caption")
    reviewed = (pair for pair, one in Review.objects.holding(round.pool.collection).items() if one.level)
    images, captions = excluded_sides()
    kept = {(image, caption) for image, caption in pairs if image not in images and caption not in captions}
    return kept - {*waiting, *reviewed}


def _lead(verdict: Verdict) -> float:
    """Return how many more votes a verdict by majority has for a match than against."""
    return verdict.votes * (2 * sum(verdict.distribution[: Level.PARTIALLY_YES]) - 1)


def _affordable(round: Round, budget: Decimal, votes: int) -> int:
    """Return for how many pairs the budget pays this number of further votes."""
    cost = votes * round.seat_cost
    return min(int(budget // cost) * int(round.design["candidates"]), MOST) if cost else MOST


@dataclass(frozen=True, kw_only=True)
class FurtherVotes(PlannedTopUp):
    """Further votes on pairs that the round has asked."""

    again: Again


class FurtherVotesAct(TopUpAct):
    """Base class of the acts that ask further votes."""

    def choose(self, round: Round) -> Again:
        """Return the pairs and votes. Raises CounterpartError as ``plan`` does."""
        raise NotImplementedError

    def plan(self, round: Round, *, progress: Progress = silent) -> FurtherVotes:
        require_addable(round)
        again = self.choose(round)
        return FurtherVotes.of(
            new_top_up(round),
            codes_of(again.pairs),
            seats=again.votes,
            figures=again.figures,
            expected=again.figures | {"called": again.called},
            again=again,
        )


class JudgeAgain(FurtherVotesAct):
    """Ask further votes on doubtful pairs."""

    again: Annotated[
        Decimal,
        DollarField(
            label="Budget",
            help_text="judge again: further votes for at most this many US dollars, fees included, on the pairs whose "
            "verdicts they are expected to correct",
        ),
    ]

    def choose(self, round: Round) -> Again:
        return judge_again(round, self.again)


class JudgeTwice(FurtherVotesAct):
    """Ask a second vote on pairs drawn at random."""

    twice: Annotated[
        int,
        forms.IntegerField(
            min_value=1,
            max_value=MOST,
            label="Pairs judged twice",
            help_text="a second vote on this many pairs of one vote, drawn at random: they say how sure the others are",
        ),
        Option(metavar="PAIRS"),
    ]

    def choose(self, round: Round) -> Again:
        return judge_twice(round, self.twice)
