"""A requester's money: what is available, what is on hold, and a ledger of every movement."""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation

CENT = Decimal("0.01")
ZERO = Decimal("0.00")
FUNDING = ("deposit", "withdrawal")  # movements between the account and the world outside


def read_amount(text: object) -> Decimal:
    """Read an amount in dollars and cents, 0 or more, written as text. Raises ValueError."""
    try:
        value = Decimal(text) if isinstance(text, str) else Decimal("NaN")
        if value >= 0 and value == value.quantize(CENT):
            return value.quantize(CENT)
    except InvalidOperation:
        pass
    raise ValueError(f"{text!r} is not an amount in dollars and cents, such as 250.00")


@dataclass
class LedgerEntry:
    """A movement of money: how it changed the two balances, in dollars."""

    at: datetime
    what: str
    available: Decimal
    on_hold: Decimal
    about: str


@dataclass
class Ledger:
    """The two balances in dollars and the movements that add up to them."""

    available: Decimal = ZERO
    on_hold: Decimal = ZERO
    entries: list[LedgerEntry] = field(default_factory=list)

    def enter(self, at: datetime, what: str, *, about: str, available: Decimal = ZERO, on_hold: Decimal = ZERO) -> None:
        """Change the balances and record the movement. Nothing else changes them."""
        self.available += available
        self.on_hold += on_hold
        if available or on_hold:
            self.entries.append(LedgerEntry(at, what, available, on_hold, about))

    def set_available(self, at: datetime, amount: Decimal) -> None:
        """Set the available balance by a deposit or a withdrawal."""
        difference = amount - self.available
        self.enter(at, FUNDING[difference < 0], available=difference, about="account")

    @property
    def spent(self) -> Decimal:
        """What left the account for good, fees included."""
        funded = sum((entry.available for entry in self.entries if entry.what in FUNDING), ZERO)
        return funded - self.available - self.on_hold
