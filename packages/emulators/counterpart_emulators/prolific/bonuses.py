"""Bonuses in two steps: set up in decimal major units, then paid. Each request to pay pays, the second one too."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from counterpart_emulators.money import CENT, ZERO, read_amount
from counterpart_emulators.prolific.errors import ProlificError, find, invalid
from counterpart_emulators.prolific.state import BonusOrder, Price, State, Study
from counterpart_emulators.prolific.studies import find_study
from counterpart_emulators.prolific.wallet import hold_bonus, minor, price_of

PAID_AFTER = 60.0  # seconds of the emulator's clock


def create_bonuses(state: State, *, study_id: str, csv_bonuses: str) -> dict[str, Any]:
    """Set up bonuses from lines such as ``ID,1.50``: the id of a submission or a participant of the study."""
    study = find_study(state, study_id)
    lines = [line.strip() for line in csv_bonuses.splitlines() if line.strip()]
    amounts = list[tuple[str, Decimal]]()
    unknown = list[str]()
    for line in lines:
        id, _, text = (part.strip() for part in line.partition(","))
        if submission_id := _submission_of(study, id):
            amounts.append((submission_id, _amount(line, text)))
        else:
            unknown.append(id)
    if unknown or not amounts:
        raise invalid("csv_bonuses", f"These ids did not take part in the study: {', '.join(unknown) or 'none given'}.")
    order = BonusOrder(state.mint("bonus order"), study.id, amounts)
    state.bonus_orders[order.id] = order
    price = _sum(order)
    return {
        "id": order.id,
        "study": study.id,
        "amount": minor(price.reward),
        "fees": minor(price.fee),
        "vat": minor(price.vat),
        "total_amount": minor(price.total),
    }


def pay_bonuses(state: State, *, payment_id: str, seconds: float = PAID_AFTER) -> str:
    """Order the payment of bonuses: it is made ``seconds`` later, and again for every call."""
    order = find(state.bonus_orders, payment_id, "Bulk bonus payment")
    run_id = state.mint("bonus run")
    hold_bonus(state, run_id, _sum(order).total)
    state.bonus_runs[run_id] = order
    state.schedule(state.now + timedelta(seconds=seconds), "pay bonuses", run_id)
    return "The bonuses will be paid shortly."


def _submission_of(study: Study, named_id: str) -> str | None:
    """Return the id of a submission, or of a participant's latest one, in a study."""
    for each in reversed(study.submissions):
        if named_id in (each.id, each.participant_id):
            return each.id
    return None


def _amount(line: str, text: str) -> Decimal:
    try:
        amount = read_amount(text)
    except ValueError:
        amount = ZERO
    if amount < CENT:
        raise ProlificError({"csv_bonuses": [f"{line!r} has no amount such as 1.50."]})
    return amount


def _sum(order: BonusOrder) -> Price:
    """Return the price of all bonuses of an order; each line is rounded for itself."""
    prices = [price_of(amount) for _, amount in order.amounts]
    return Price(*(sum((getattr(price, part) for price in prices), ZERO) for part in ("reward", "fee", "vat")))
