"""Settings of a machine that asks a model over the network; what will not do is refused before it is written down."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from urllib.parse import urlsplit

from core.errors import CounterpartError
from mitl.annotators.base import Option, Value

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class CheckedOption(Option):
    """A text whose form is checked: ``check`` raises CounterpartError for what will not do."""

    check: Callable[[str, str], object] = lambda name, text: None

    def read(self, name: str, value: object) -> Value:
        """Return the text. Raises CounterpartError where it will not do."""
        setting = super().read(name, value)
        self.check(name, str(setting))
        return setting


def check_address(name: str, text: str) -> None:
    """Raise CounterpartError unless the text is a web address, without anything secret in it."""
    parts = urlsplit(text)
    if parts.username or parts.password:
        raise CounterpartError(f"Option {name} carries a name or a password; put the key into an environment variable.")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CounterpartError(f"Option {name} must be an address like https://host/v1, not {text!r}.")


def check_variable(name: str, text: str) -> None:
    """Raise CounterpartError unless the text can name a variable. It is not repeated: it may be the key itself."""
    if text and not VARIABLE.fullmatch(text):
        raise CounterpartError(
            f"Option {name} takes the name of an environment variable that holds the key, never the key itself."
        )


def read_money(name: str, text: str) -> Decimal | None:
    """Return an amount; None for no text. Raises CounterpartError for what is none, or below 0."""
    if not text:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0:
        raise CounterpartError(f"Option {name} must be an amount of money like 2.50, not {text!r}.")
    return amount


OPTIONS: dict[str, Option] = {
    "endpoint": CheckedOption(
        "http://localhost:8000/v1", "base address of an OpenAI-compatible API, with /v1", check=check_address
    ),
    "model": Option("", "the model's name there"),
    "key_variable": CheckedOption(
        "", "name of the environment variable that holds the key; none where no key is wanted", check=check_variable
    ),
    "picture": Option(
        512, "longest side in pixels at which pictures are shown, 32 to 4096", allows=lambda side: 32 <= side <= 4096
    ),
    "ceiling": Option(10_000, "requests at most to this model, ever, 1 or more", allows=lambda count: count >= 1),
    "money": CheckedOption("", "money at most spent on this model, ever; none: any amount", check=read_money),
    "input_price": CheckedOption("0", "price of a million tokens read", check=read_money),
    "output_price": CheckedOption("0", "price of a million tokens written", check=read_money),
    "picture_tokens": Option(
        10_000, "tokens that a picture is charged for at most, for the ceiling, 0 or more", allows=lambda n: n >= 0
    ),
    "parallel": Option(4, "requests under way at a time, 1 to 64", allows=lambda n: 1 <= n <= 64),
    "per_minute": Option(0, "requests started a minute at most, 0 for any number", allows=lambda n: n >= 0),
    "timeout": Option(60.0, "seconds to wait for an answer, above 0", allows=lambda seconds: seconds > 0),
    "attempts": Option(6, "tries of a request, 1 to 20", allows=lambda n: 1 <= n <= 20),
}
