"""Bonuses on Prolific, in two steps: create a bonus, which may be repeated, and pay it, which pays again each time."""

from collections import Counter
from functools import partial
from typing import Any

from annotation.models import Payment
from crowd.channels.base import Bonus, patiently
from crowd.channels.prolific.client import Client
from crowd.channels.prolific.money import major, minor
from crowd.models import Posting


def prepare(client: Client, payment: Payment) -> dict[str, Any]:
    """Create the bonus without paying it; return its id and the bonuses that the submission had, in cents. A created
    bonus that is never paid costs nothing."""
    work = payment.assignment
    minor(payment.amount)  # refuses a part of a cent before anything is created
    # Read before the bonus exists: is_paid looks for one more than these.
    before = _paid_for(client, work.outside_key)
    body = {"study_id": work.visit.posting.external_id, "csv_bonuses": f"{work.outside_key},{payment.amount:.2f}"}
    return {"order": client.post("submissions/bonus-payments/", body)["id"], "before": before}


def pay(client: Client, prepared: dict[str, Any]) -> None:
    """Pay a bonus that was created. Prolific does it later; a second call pays a second time."""
    client.post(f"bulk-bonus-payments/{prepared['order']}/pay/")


def is_paid(client: Client, payment: Payment, prepared: dict[str, Any]) -> bool:
    """Whether the submission has one more bonus of this amount than before."""
    new = Counter(_paid_for(client, payment.assignment.outside_key)) - Counter(prepared["before"])
    return new[minor(payment.amount)] > 0


def bonuses(client: Client, posting: Posting) -> list[Bonus]:
    """List the bonuses of all submissions to the study, with one call each; wait when Prolific limits their rate."""
    keys = [row["id"] for row in client.rows("submissions/", study=posting.external_id, page_size=100)]
    paid = {key: patiently(partial(_paid_for, client, key)) for key in keys}
    return [Bonus(key, major(amount), None) for key, amounts in paid.items() for amount in amounts]


def _paid_for(client: Client, submission: str) -> list[int]:
    return [int(amount) for amount in client.get(f"submissions/{submission}/").get("bonus_payments") or []]
