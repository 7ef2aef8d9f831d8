"""The requester's money: fees to the cent, what is held for open work, and a ledger that always balances."""

from decimal import ROUND_HALF_UP, Decimal

from emulators.mturk.errors import insufficient_funds
from emulators.mturk.requirements import MASTERS
from emulators.mturk.rows import HIT, HITType, LedgerEntry
from emulators.mturk.state import State

CENT = Decimal("0.01")
BASE_RATE = Decimal("0.20")
TEN_OR_MORE_RATE = Decimal("0.20")
MASTERS_RATE = Decimal("0.05")


def dollars(text: str) -> Decimal:
    """Read an amount as the API writes it: ``5``, ``1.4`` or ``101.42``."""
    return Decimal(text).quantize(CENT)


def rounded_fee(amount: Decimal, rate: Decimal) -> Decimal:
    """Return the fee on an amount: half cents round up, and a cent is the least."""
    return max(CENT, (amount * rate).quantize(CENT, ROUND_HALF_UP))


def assignment_fee(state: State, type: HITType, *, max_assignments: int) -> Decimal:
    """Return the fee for one assignment: the rates are summed and rounded once, premium fees come on top."""
    required = {requirement["QualificationTypeId"] for requirement in type.requirements}
    rate = BASE_RATE + TEN_OR_MORE_RATE * (max_assignments >= 10) + MASTERS_RATE * bool(required & MASTERS)
    premium = sum((state.premium_fees[id] for id in required & state.premium_fees.keys()), Decimal("0.00"))
    return rounded_fee(type.reward, rate) + premium


def require_funds(state: State, amount: Decimal) -> None:
    """Raise InsufficientFunds where less is available than that; the sandbox never runs out."""
    if amount > state.available and not state.sandbox:
        raise insufficient_funds()


def hold(state: State, hit: HIT, count: int) -> None:
    """Put the cost of ``count`` more assignments on hold. Raises InsufficientFunds and changes nothing."""
    amount = (hit.type.reward + hit.fee) * count
    require_funds(state, amount)
    hit.held += count
    enter(state, "hold", available=-amount, on_hold=amount, about=hit.id)


def release(state: State, hit: HIT, count: int) -> None:
    """Give back what was on hold for ``count`` assignments that will not be paid."""
    amount = (hit.type.reward + hit.fee) * count
    hit.held -= count
    enter(state, "release", available=amount, on_hold=-amount, about=hit.id)


def spend(state: State, hit: HIT, assignment_id: str) -> None:
    """Pay the reward and the fee of one assignment out of what is on hold for it."""
    hit.held -= 1
    enter(state, "reward", on_hold=-hit.type.reward, about=assignment_id)
    enter(state, "fee", on_hold=-hit.fee, about=assignment_id)


def pay_bonus(state: State, amount: Decimal, assignment_id: str) -> None:
    """Pay a bonus and its fee out of the available balance. Raises InsufficientFunds and changes nothing."""
    fee = rounded_fee(amount, BASE_RATE)
    require_funds(state, amount + fee)
    enter(state, "bonus", available=-amount, about=assignment_id)
    enter(state, "bonus fee", available=-fee, about=assignment_id)


def set_balance(state: State, *, available: str) -> dict[str, str]:
    """Make the available balance what it is said to be, by a deposit or a withdrawal."""
    difference = dollars(available) - state.available
    enter(state, "deposit" if difference >= 0 else "withdrawal", available=difference, about="account")
    return {"AvailableBalance": f"{state.available:.2f}"}


def set_premium_fee(state: State, *, qualification_type_id: str, fee: str) -> dict[str, str]:
    """Make a qualification type a premium one: every assignment that requires it costs ``fee`` dollars more."""
    state.premium_fees[qualification_type_id] = dollars(fee)
    return {}


def enter(
    state: State, what: str, *, about: str, available: Decimal = Decimal(0), on_hold: Decimal = Decimal(0)
) -> None:
    """Change the balances and write it down; nothing else changes them."""
    state.available += available
    state.on_hold += on_hold
    if available or on_hold:
        state.ledger.append(LedgerEntry(state.now, what, available, on_hold, about))
