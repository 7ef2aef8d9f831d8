"""A round on its platform as its page shows it: postings, work, calls, money, and the result of the last sync."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, QuerySet

from annotation.models import Assignment
from annotation.people.workers import mask_workers
from crowd import channels
from crowd.calls.funds import noted_funds, still_to_fund
from crowd.channels import Market, market_of
from crowd.models import Outbox, Posting, Sync
from crowd.posting.pauses import posting_of_whole
from crowd.posting.postings import Overview, overview_of, work_to_look_at
from hits.models import Round

FEW = 5
Row = dict[str, Any]


@dataclass(frozen=True)
class OnPlatform:
    """The status of a round on its platform, read from our database.

    ``whole`` is the open posting of the whole round, where the platform lists one; ``funds`` is the account's balance
    at the last check and ``to_fund`` what the round may still cost, in US dollars;
    ``troubled_calls`` are ``n`` of a kind and state with the same error, which failed or wait after it, most frequent
    errors first; ``problems`` are submissions with a problem, and whether their answers are stored.
    """

    environment: Market
    whole: Posting | None
    overview: Overview
    last_sync: Sync | None
    troubled_calls: list[Row]
    problems: list[Row]
    funds: Decimal | None
    to_fund: Decimal


def is_on_platform(round_: Round) -> bool:
    """Whether the round is published on a crowd platform."""
    return round_.channel in channels.platforms()


def on_platform(round_: Round) -> OnPlatform | None:
    """Return the status with a constant number of queries and without platform calls; None for other rounds."""
    if not is_on_platform(round_):
        return None
    return OnPlatform(
        environment=market_of(round_.channel, round_.environment),
        whole=posting_of_whole(round_) if round_.state == "open" else None,
        overview=overview_of(round_),
        last_sync=round_.syncs.first(),
        troubled_calls=_troubled_calls(round_),
        problems=_problems(work_to_look_at(round_)[:FEW]),
        funds=noted_funds(round_),
        to_fund=still_to_fund(round_),
    )


def _troubled_calls(round_: Round) -> list[Row]:
    troubled = Outbox.objects.filter(round=round_).exclude(error="").exclude(state=Outbox.State.DONE)
    kinds = troubled.order_by().values_list("state", "call", "error").annotate(n=Count("pk"))
    rows = list(kinds.order_by("state", "-n", "error")[:FEW])
    errors = mask_workers([error for _, _, error, _ in rows])
    return [
        {"state": state, "call": Outbox.Call(call).label, "n": n, "error": error}
        for (state, call, _, n), error in zip(rows, errors, strict=True)
    ]


def _problems(submissions: QuerySet[Assignment]) -> list[Row]:
    rows = list(submissions)
    texts = mask_workers([row.problem for row in rows])
    return [
        {"assignment": row.pk, "is_stored": not row.is_claim, "problem": text}
        for row, text in zip(rows, texts, strict=True)
    ]


def calls_of(rows: Iterable[Outbox]) -> list[Row]:
    """Return each ``row`` with its environment, and its error without platform ids of workers, by one query."""
    listed = list(rows)
    errors = mask_workers([row.error for row in listed])
    return [
        {"row": row, "environment": str(market_of(row.channel, row.environment)), "error": error}
        for row, error in zip(listed, errors, strict=True)
    ]
