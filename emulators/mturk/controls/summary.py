"""The world in figures and lists, as JSON can hold them."""

from collections import Counter
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from typing import Any

from emulators.mturk.world import World

STATUSES = ("Assignable", "Unassignable", "Reviewable", "Reviewing", "Disposed")


def summary(world: World) -> dict[str, Any]:
    """Return the clock, the balances in dollars, and how many HITs, assignments and workers there are."""
    with world.looking() as state:
        hits = Counter[str](hit.status for hit in state.hits.values())
        assignments = Counter(each.status for hit in state.hits.values() for each in hit.assignments)
        spent = -sum((entry.on_hold + entry.available for entry in state.ledger if _is_paid(entry.what)), Decimal(0))
        return {
            "seed": world.seed,
            "clock": clock(world),
            "balance": {
                "available": f"{state.available:.2f}",
                "on_hold": f"{state.on_hold:.2f}",
                "spent": f"{spent:.2f}",
            },
            "hits": {status: hits[status] for status in STATUSES if hits[status]},
            "assignments": dict(assignments),
            "workers": len(state.workers),
        }


def clock(world: World) -> dict[str, Any]:
    return {"now": world.clock.now().isoformat(), "running": world.clock.stopped_at is None}


def ledger(world: World) -> list[dict[str, Any]]:
    """Return every movement of money, oldest first, in dollars."""
    with world.looking() as state:
        return [_plain(asdict(entry)) for entry in state.ledger]


def workers(world: World) -> list[dict[str, Any]]:
    """Return everybody who is registered."""
    with world.looking() as state:
        return [_plain(asdict(worker)) for worker in state.workers.values()]


def _is_paid(what: str) -> bool:
    return what in ("reward", "fee", "bonus", "bonus fee")


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name: _text(value) for name, value in row.items()}


def _text(value: Any) -> Any:
    if isinstance(value, Decimal):
        return f"{value:.2f}"
    return value.isoformat() if isinstance(value, datetime) else value
