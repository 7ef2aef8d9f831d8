"""A vision-language model behind an OpenAI-compatible endpoint, asked for the four-level judgment of every pair.

Every pair costs money or GPU time, so it is best used in a cascade. Answers are stored in the database as they arrive
and never requested again: by endpoint, model, wording, picture and caption.
"""

import re
from decimal import Decimal, InvalidOperation
from urllib.parse import urlsplit

from counterpart_annotators.options import above_zero, number, server_text, text
from counterpart_metrics.errors import CounterpartError

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def check_address(text: str) -> None:
    """Raise CounterpartError unless the text is a web address without a name or password."""
    parts = urlsplit(text)
    if parts.username or parts.password:
        raise CounterpartError("Option endpoint contains a name or a password; put the key in an environment variable.")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CounterpartError(f"Option endpoint must be an address like https://host/v1, not {text!r}.")


def check_variable(text: str) -> None:
    """Raise CounterpartError unless the text can name a variable. It is not repeated: it may be the key itself."""
    if text and not _VARIABLE.fullmatch(text):
        raise CounterpartError(
            "Option key_variable takes the name of an environment variable that holds the key, never the key itself."
        )


def check_money(text: str) -> None:
    """Refuse what is not an amount of 0 or more, as a check."""
    try:
        amount = Decimal(text)
    except InvalidOperation:
        raise ValueError("Enter a number.") from None
    if not amount.is_finite():
        raise ValueError("Enter a number.")
    if amount < 0:
        raise ValueError("Ensure this value is greater than or equal to 0.")


OPTIONS = {
    "endpoint": server_text(
        "http://localhost:8000/v1", "base address of an OpenAI-compatible API, with /v1", checks=[check_address]
    ),
    "model": text("", "name of the model there"),
    "key_variable": server_text(
        "", "environment variable that holds the key; empty if no key is needed", checks=[check_variable]
    ),
    "picture": number(512, "longest side of the pictures sent, in pixels, 32 to 4096", min_value=32, max_value=4096),
    "ceiling": number(10_000, "largest number of requests to this model, ever, 1 or more", min_value=1),
    "money": text("", "most money spent on this model, ever; empty: no limit", checks=[check_money]),
    "input_price": text("0", "price of a million input tokens", checks=[check_money]),
    "output_price": text("0", "price of a million output tokens", checks=[check_money]),
    "picture_tokens": number(10_000, "most tokens charged for a picture, for the ceiling, 0 or more", min_value=0),
    "parallel": number(4, "parallel requests, 1 to 64", min_value=1, max_value=64),
    "per_minute": number(0, "most requests per minute; 0: no limit", min_value=0),
    "timeout": number(60.0, "seconds to wait for an answer, above 0", checks=[above_zero]),
    "attempts": number(6, "attempts per request, 1 to 20", min_value=1, max_value=20),
}
CROSS_ENCODER = True
