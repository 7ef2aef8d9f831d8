"""The workspace's wallet: fees and VAT to the cent, money on hold for open places, and payments."""

from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from counterpart_emulators.money import CENT, ZERO
from counterpart_emulators.prolific.errors import ProlificError
from counterpart_emulators.prolific.schemas import Count
from counterpart_emulators.prolific.state import Price, State, Study, Submission

FEE = Decimal("0.333")  # the academic rate, on rewards and bonuses alike
VAT = Decimal("0.20")  # on the fee
FLOORS = {"USD": 800, "GBP": 600}  # minor units an hour
SHORT = "You do not have enough funds in your wallet for this. Top it up and try again."
PARTS = {"rewards": ("reward", "bonus"), "fees": ("fee", "bonus fee"), "tax": ("vat", "bonus vat")}


def minor(amount: Decimal) -> int:
    """Return an amount in minor units, such as cents."""
    return int(amount * 100)


def price_of(amount: Decimal) -> Price:
    """Return the price of a payment: fee and VAT are rounded half up to the cent."""
    fee = (amount * FEE).quantize(CENT, ROUND_HALF_UP)
    return Price(amount, fee, (fee * VAT).quantize(CENT, ROUND_HALF_UP))


def place_price(study: Study) -> Price:
    return price_of(study.reward)


def require_funds(state: State, amount: Decimal) -> None:
    """Raise ProlificError where less is available."""
    if amount > state.ledger.available:
        raise ProlificError(SHORT)


def hold(state: State, study: Study, count: int) -> None:
    """Put the price of ``count`` more places on hold. Raises ProlificError and changes nothing."""
    amount = place_price(study).total * count
    require_funds(state, amount)
    study.held += count
    state.ledger.enter(state.now, "hold", available=-amount, on_hold=amount, about=study.id)


def release(state: State, study: Study, count: int) -> None:
    """Release the money on hold for ``count`` places that will not be paid."""
    amount = place_price(study).total * count
    study.held -= count
    state.ledger.enter(state.now, "release", available=amount, on_hold=-amount, about=study.id)


def pay_reward(state: State, submission: Submission, amount: Decimal | None = None) -> None:
    """Pay for a submission from what is on hold for its place: the reward, or a smaller amount."""
    release(state, submission.study, 1)
    price = place_price(submission.study) if amount is None else price_of(amount)
    submission.paid += price.reward
    _enter(state, "", price, about=submission.id)


def pay_screen_out(state: State, submission: Submission, amount: Decimal) -> None:
    """Pay a fixed amount from the available balance; the submission's place stays on hold for another one."""
    submission.paid += amount
    _enter(state, "", price_of(amount), about=submission.id)


def hold_bonus(state: State, about: str, total: Decimal) -> None:
    """Put the price of bonuses on hold until they are paid. Raises ProlificError and changes nothing."""
    require_funds(state, total)
    state.ledger.enter(state.now, "hold", available=-total, on_hold=total, about=about)


def pay_bonus(state: State, submission: Submission, amount: Decimal) -> None:
    """Pay a bonus from what is on hold for it."""
    price = price_of(amount)
    state.ledger.enter(state.now, "release", available=price.total, on_hold=-price.total, about=submission.id)
    submission.bonuses.append(amount)
    _enter(state, "bonus ", price, about=submission.id)


def spent_on(state: State, study: Study) -> dict[str, dict[str, Decimal]]:
    """Return the payments for a study's submissions: ``rewards`` and ``bonuses``, each with its parts."""
    ids = {each.id for each in study.submissions}
    sums = {"rewards": dict.fromkeys(PARTS, ZERO), "bonuses": dict.fromkeys(PARTS, ZERO)}
    for entry in state.ledger.entries:
        for part, names in PARTS.items():
            if entry.about in ids and entry.what in names:
                sums["bonuses" if entry.what.startswith("bonus") else "rewards"][part] -= entry.available
    return sums


def show_account(state: State, query: Mapping[str, str]) -> dict[str, Any]:
    """Show the researcher whose token is used."""
    return {
        "id": state.user_id,
        "name": "Emulated Researcher",
        "email": "researcher@prolific.invalid",
        "currency_code": state.currency,
        "balance": minor(state.ledger.available + state.ledger.on_hold),
        "available_balance": minor(state.ledger.available),
        "fees_percentage": float(FEE * 100),
        "vat_percentage": float(VAT * 100),
    }


def show_balance(state: State, query: Mapping[str, str], *, workspace_id: str) -> dict[str, Any]:
    """Show the balance of the wallet, in minor units."""
    account = show_account(state, query)
    return {
        "currency_code": state.currency,
        "total_balance": account["balance"],
        "available_balance": account["available_balance"],
    }


def calculate_cost(state: State, *, reward: Count, total_available_places: Count) -> dict[str, Any]:
    """Return the cost of this number of places, fees and VAT included."""
    return {"total_cost": minor(price_of(Decimal(reward) / 100).total * total_available_places)}


def _enter(state: State, kind: str, price: Price, *, about: str) -> None:
    for what, amount in (("reward", price.reward), ("fee", price.fee), ("vat", price.vat)):
        name = f"{kind}{what}" if what != "reward" or not kind else kind.strip()
        state.ledger.enter(state.now, name, available=-amount, about=about)
