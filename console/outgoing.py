"""Calls of the outbox as staff read them: what each is about, and its error without any worker's platform id."""

from collections.abc import Iterable
from dataclasses import dataclass

from annotation.masking import mask_workers
from crowd.channels.markets import market_of
from crowd.models import Outbox


@dataclass(frozen=True)
class Outgoing:
    row: Outbox
    where: str
    error: str


def outgoing(rows: Iterable[Outbox]) -> list[Outgoing]:
    """Read the errors of all ``rows`` with one query."""
    listed = list(rows)
    errors = mask_workers([row.error for row in listed])
    return [
        Outgoing(row, str(market_of(row.channel, row.environment)), error)
        for row, error in zip(listed, errors, strict=True)
    ]
