"""Money on Prolific: minor units on the wire, US dollars here; what places cost, from Prolific's own calculator; and
bonuses in two steps: create a bonus, which may be repeated, and pay it, which pays again each time."""

from collections import Counter
from decimal import ROUND_UP, Decimal
from functools import partial
from math import isqrt
from typing import Any

from annotation.models import Payment
from crowd.channels.base import Bonus, ChannelError, patiently
from crowd.channels.prolific.client import Client
from crowd.models import Posting
from hits.prices import CENT, FeeSchedule, cents

CURRENCY = "USD"
LEAST_HOURLY = Decimal("8.00")  # Prolific's floor in US dollars, on the stated time
# What pages show before Prolific was asked: the higher of its two fees, with 20% value-added tax on it.
ESTIMATE = FeeSchedule(reward=Decimal("0.5136"), bonus=Decimal("0.5136"))


def minor(amount: Decimal) -> int:
    """Return US dollars as cents. Raises ChannelError for parts of a cent."""
    if amount != cents(amount):
        raise ChannelError(f"${amount} is not a whole number of cents.", permanent=True)
    return int(cents(amount) / CENT)


def major(amount: int | str) -> Decimal:
    """Return cents as US dollars."""
    return Decimal(amount) * CENT


def funds(client: Client, workspace: str) -> Decimal:
    """Return what the workspace has left, in US dollars. Raises ChannelError for another currency."""
    wallet = client.get(f"workspaces/{workspace}/balance/")
    check_currency(wallet["currency_code"])
    return major(wallet["available_balance"])


def fees(client: Client, reward: Decimal, places: int) -> FeeSchedule:
    """Ask Prolific what ``places`` at this reward cost, and return its fee with tax as a share of the reward. The same
    share is expected of bonuses.

    The cost of a place is rounded up to a cent, so that our sums are never below Prolific's.
    """
    total = client.post("study-cost-calculator/", {"reward": minor(reward), "total_available_places": places})
    share = ((major(total["total_cost"]) / places).quantize(CENT, ROUND_UP) - reward) / reward
    return FeeSchedule(reward=share, bonus=share)


def longest_minutes(minutes: int) -> int:
    """Return the shortest time limit that Prolific takes for work of ``minutes``: 2 + 2t + 2√t, rounded up.

    >>> [longest_minutes(10), longest_minutes(14)]
    [29, 38]
    """
    root = isqrt(4 * minutes)
    return 2 + 2 * minutes + root + (root * root < 4 * minutes)


def check_currency(found: str) -> None:
    """Raise ChannelError unless it is US dollars, as in our rounds."""
    if found != CURRENCY:
        raise ChannelError(
            f"The workspace on Prolific pays in {found}. Rewards and ceilings here are in US dollars: use one in USD.",
            permanent=True,
        )


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
