"""What a round's page shows of its platform: postings, work, calls, money, and the news of the last sync."""

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, QuerySet

from annotation.masking import mask_workers
from crowd import channels
from crowd.channels.markets import Market, market_of
from crowd.funds import noted_funds, still_to_fund
from crowd.models import Outbox, PlatformAssignment, Sync
from crowd.overview import Overview, overview_of, work_to_look_at
from hits.models import Round

FEW = 5


@dataclass(frozen=True)
class Doubt:
    """A submission (``turn``) that came with a problem; ``assignment`` is 0 where it was not taken in."""

    turn: int
    assignment: int
    problem: str


@dataclass(frozen=True)
class HeldUp:
    """``n`` calls of one kind and state that one error keeps from being made."""

    state: str
    call: str
    n: int
    error: str


@dataclass(frozen=True)
class OnPlatform:
    """``funds`` is what the account held when it was last noted, ``to_fund`` what the round may still take from it, in
    US dollars; ``held_up`` the calls that failed or wait after an error, the most frequent errors first."""

    market: Market
    overview: Overview
    last_news: Sync | None
    held_up: list[HeldUp]
    doubts: list[Doubt]
    funds: Decimal | None
    to_fund: Decimal

    @property
    def falls_short(self) -> bool:
        return self.funds is not None and self.funds < self.to_fund


def is_on_platform(round: Round) -> bool:
    """Whether the round was published outside the house."""
    return bool(round.channel) and channels.get(round.channel).is_remote


def on_platform(round: Round) -> OnPlatform | None:
    """Read it with a number of queries that does not grow; None for a round on no platform. Nothing is called."""
    if not is_on_platform(round):
        return None
    return OnPlatform(
        market=market_of(round.channel, round.environment),
        overview=overview_of(round),
        last_news=round.syncs.first(),
        held_up=_held_up(round),
        doubts=_doubts(work_to_look_at(round)[:FEW]),
        funds=noted_funds(round),
        to_fund=still_to_fund(round),
    )


def _held_up(round: Round) -> list[HeldUp]:
    troubled = Outbox.objects.filter(round=round).exclude(error="").exclude(state=Outbox.State.DONE)
    kinds = troubled.order_by().values_list("state", "call", "error").annotate(n=Count("pk"))
    rows = list(kinds.order_by("state", "-n", "error")[:FEW])
    errors = mask_workers([error for _, _, error, _ in rows])
    return [
        HeldUp(state, Outbox.Call(call).label, n, error)
        for (state, call, _, n), error in zip(rows, errors, strict=True)
    ]


def _doubts(turns: QuerySet[PlatformAssignment]) -> list[Doubt]:
    rows = list(turns)
    problems = mask_workers([row.problem for row in rows])
    return [Doubt(row.pk, row.assignment_id or 0, problem) for row, problem in zip(rows, problems, strict=True)]
