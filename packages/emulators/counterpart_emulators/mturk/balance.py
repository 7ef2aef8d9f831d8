"""The requester's balance: fees to the cent, money on hold for open work, and payments."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from counterpart_emulators.money import CENT, ZERO, read_amount
from counterpart_emulators.mturk.errors import TurkError
from counterpart_emulators.mturk.requirements import MASTERS
from counterpart_emulators.mturk.state import HIT, HITType, State

BASE_RATE = Decimal("0.20")
TEN_OR_MORE_RATE = Decimal("0.20")
MASTERS_RATE = Decimal("0.05")
SANDBOX_BALANCE = "10000.00"  # play money


def get_account_balance(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Show both balances."""
    if state.sandbox:
        return {"AvailableBalance": SANDBOX_BALANCE}
    return {"AvailableBalance": f"{state.ledger.available:.2f}", "OnHoldBalance": f"{state.ledger.on_hold:.2f}"}


def rounded_fee(amount: Decimal, rate: Decimal) -> Decimal:
    """Return the fee on an amount: half cents are rounded up, and the least is a cent."""
    return max(CENT, (amount * rate).quantize(CENT, ROUND_HALF_UP))


def assignment_fee(state: State, hit_type: HITType, *, max_assignments: int) -> Decimal:
    """Return the fee for one assignment: the rates are added, then rounded once; premium fees are added to that."""
    required = {requirement["QualificationTypeId"] for requirement in hit_type.requirements}
    rate = BASE_RATE
    if max_assignments >= 10:
        rate += TEN_OR_MORE_RATE
    if required & MASTERS:
        rate += MASTERS_RATE
    premium = sum((state.premium_fees[id] for id in required & state.premium_fees.keys()), ZERO)
    return rounded_fee(hit_type.reward, rate) + premium


def require_funds(state: State, amount: Decimal) -> None:
    """Raise InsufficientFunds where less is available; the sandbox never runs out."""
    if amount > state.ledger.available and not state.sandbox:
        raise TurkError(
            "This Requester has insufficient funds in their account to complete this transaction.",
            turk_code="InsufficientFunds",
        )


def hold(state: State, hit: HIT, count: int) -> None:
    """Put the cost of ``count`` more assignments on hold. Raises InsufficientFunds and changes nothing."""
    amount = (hit.type.reward + hit.fee) * count
    require_funds(state, amount)
    hit.held += count
    state.ledger.enter(state.now, "hold", available=-amount, on_hold=amount, about=hit.id)


def release(state: State, hit: HIT, count: int) -> None:
    """Release the money on hold for ``count`` assignments that will not be paid."""
    amount = (hit.type.reward + hit.fee) * count
    hit.held -= count
    state.ledger.enter(state.now, "release", available=amount, on_hold=-amount, about=hit.id)


def spend(state: State, hit: HIT, assignment_id: str) -> None:
    """Pay the reward and the fee of one assignment from what is on hold for it."""
    hit.held -= 1
    state.ledger.enter(state.now, "reward", on_hold=-hit.type.reward, about=assignment_id)
    state.ledger.enter(state.now, "fee", on_hold=-hit.fee, about=assignment_id)


def pay_bonus(state: State, amount: Decimal, assignment_id: str) -> None:
    """Pay a bonus and its fee from the available balance. Raises InsufficientFunds and changes nothing."""
    fee = rounded_fee(amount, BASE_RATE)
    require_funds(state, amount + fee)
    state.ledger.enter(state.now, "bonus", available=-amount, about=assignment_id)
    state.ledger.enter(state.now, "bonus fee", available=-fee, about=assignment_id)


def set_premium_fee(state: State, *, qualification_type_id: str, fee: str) -> dict[str, Any]:
    """Make a qualification type a premium one: every assignment that requires it costs ``fee`` dollars more."""
    state.premium_fees[qualification_type_id] = read_amount(fee)
    return {}
