"""A vision-language model behind an OpenAI-compatible endpoint, asked for the four-level judgment of every pair.

Every pair costs money or GPU time, so it is best used in a cascade. Answers are stored in the database as they arrive
and never requested again: by endpoint, model, wording, picture and caption.
"""

import re
from decimal import Decimal, InvalidOperation
from urllib.parse import urlsplit

from core.errors import CounterpartError
from mitl.options import Option

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def check_address(name: str, text: str) -> None:
    """Raise CounterpartError unless the text is a web address without a name or password."""
    parts = urlsplit(text)
    if parts.username or parts.password:
        raise CounterpartError(f"Option {name} contains a name or a password; put the key in an environment variable.")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CounterpartError(f"Option {name} must be an address like https://host/v1, not {text!r}.")


def check_variable(name: str, text: str) -> None:
    """Raise CounterpartError unless the text can name a variable. It is not repeated: it may be the key itself."""
    if text and not _VARIABLE.fullmatch(text):
        raise CounterpartError(
            f"Option {name} takes the name of an environment variable that holds the key, never the key itself."
        )


def read_money(name: str, text: str) -> Decimal | None:
    """Return an amount; None for an empty text. Raises CounterpartError for an invalid or negative amount."""
    if not text:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0:
        raise CounterpartError(f"Option {name} must be an amount of money like 2.50, not {text!r}.")
    return amount


OPTIONS = {
    "endpoint": Option(
        "http://localhost:8000/v1",
        "base address of an OpenAI-compatible API, with /v1",
        check=check_address,
        on_page="no",
    ),
    "model": Option("", "name of the model there"),
    "key_variable": Option(
        "",
        "environment variable that holds the key; empty if no key is needed",
        check=check_variable,
        on_page="no",
    ),
    "picture": Option(
        512, "longest side of the pictures sent, in pixels, 32 to 4096", allows=lambda side: 32 <= side <= 4096
    ),
    "ceiling": Option(
        10_000, "largest number of requests to this model, ever, 1 or more", allows=lambda count: count >= 1
    ),
    "money": Option("", "most money spent on this model, ever; empty: no limit", check=read_money),
    "input_price": Option("0", "price of a million input tokens", check=read_money),
    "output_price": Option("0", "price of a million output tokens", check=read_money),
    "picture_tokens": Option(
        10_000, "most tokens charged for a picture, for the ceiling, 0 or more", allows=lambda n: n >= 0
    ),
    "parallel": Option(4, "parallel requests, 1 to 64", allows=lambda n: 1 <= n <= 64),
    "per_minute": Option(0, "most requests per minute; 0: no limit", allows=lambda n: n >= 0),
    "timeout": Option(60.0, "seconds to wait for an answer, above 0", allows=lambda seconds: seconds > 0),
    "attempts": Option(6, "attempts per request, 1 to 20", allows=lambda n: 1 <= n <= 20),
}
CROSS_ENCODER = True
