"""A round on its platform as its page shows it: postings, work, calls, money, and the result of the last sync."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, QuerySet

from annotation.models import Assignment
from annotation.people.workers import mask_workers
from crowd import channels
from crowd.channels import Market, market_of
from crowd.funds import noted_funds, still_to_fund
from crowd.models import Outbox, Posting, Sync
from crowd.pauses import posting_of_whole
from crowd.postings import Overview, overview_of, work_to_look_at
from hits.models import Round

FEW = 5


@dataclass(frozen=True)
class Problem:
    """A submission with a problem; ``is_stored`` says whether its answers were stored."""

    assignment: int
    is_stored: bool
    problem: str


@dataclass(frozen=True)
class TroubledCalls:
    """``n`` calls of one kind and state with the same error."""

    state: str
    call: str
    n: int
    error: str


@dataclass(frozen=True)
class OnPlatform:
    """The status of a round on its platform, read from our database.

    ``whole`` is the open posting of the whole round, where the platform lists one; ``funds`` is the account's balance
    at the last check and ``to_fund`` what the round may still cost, in US dollars;
    ``troubled_calls`` failed or wait after an error, most frequent errors first.
    """

    environment: Market
    whole: Posting | None
    overview: Overview
    last_sync: Sync | None
    troubled_calls: list[TroubledCalls]
    problems: list[Problem]
    funds: Decimal | None
    to_fund: Decimal

    @property
    def is_paused(self) -> bool:
        """Whether the platform lets no new visitor come, as far as is known."""
        return self.whole is not None and (self.whole.paused_at is not None or self.whole.status == "PAUSED")

    @property
    def falls_short(self) -> bool:
        return self.funds is not None and self.funds < self.to_fund


def is_on_platform(round: Round) -> bool:
    """Whether the round is published on a crowd platform."""
    return round.channel in channels.platforms()


def on_platform(round: Round) -> OnPlatform | None:
    """Return the status with a constant number of queries and without platform calls; None for other rounds."""
    if not is_on_platform(round):
        return None
    return OnPlatform(
        environment=market_of(round.channel, round.environment),
        whole=posting_of_whole(round) if round.state == "open" else None,
        overview=overview_of(round),
        last_sync=round.syncs.first(),
        troubled_calls=_troubled_calls(round),
        problems=_problems(work_to_look_at(round)[:FEW]),
        funds=noted_funds(round),
        to_fund=still_to_fund(round),
    )


def _troubled_calls(round: Round) -> list[TroubledCalls]:
    troubled = Outbox.objects.filter(round=round).exclude(error="").exclude(state=Outbox.State.DONE)
    kinds = troubled.order_by().values_list("state", "call", "error").annotate(n=Count("pk"))
    rows = list(kinds.order_by("state", "-n", "error")[:FEW])
    errors = mask_workers([error for _, _, error, _ in rows])
    return [
        TroubledCalls(state, Outbox.Call(call).label, n, error)
        for (state, call, _, n), error in zip(rows, errors, strict=True)
    ]


def _problems(submissions: QuerySet[Assignment]) -> list[Problem]:
    rows = list(submissions)
    texts = mask_workers([row.problem for row in rows])
    return [Problem(row.pk, not row.is_claim, text) for row, text in zip(rows, texts, strict=True)]


@dataclass(frozen=True)
class Call:
    """A call of the outbox with its environment, and its error without platform ids of workers."""

    row: Outbox
    environment: str
    error: str


def calls_of(rows: Iterable[Outbox]) -> list[Call]:
    """Return ``rows`` for display, with one query for all errors."""
    listed = list(rows)
    errors = mask_workers([row.error for row in listed])
    return [
        Call(row, str(market_of(row.channel, row.environment)), error)
        for row, error in zip(listed, errors, strict=True)
    ]
