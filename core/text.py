"""Text that people enter: not empty, not too long, no control characters; and safe cells of CSV files."""

import unicodedata

from core.errors import CounterpartError, some_of

ALLOWED = "\t\n\r"


def check_words(text: str, *, what: str, at_most: int) -> str:
    """Return ``text`` without blanks at its ends. Raises CounterpartError where it is empty, longer than ``at_most``
    characters, or holds control characters other than tabs and line ends."""
    text = text.strip()
    if not text:
        raise CounterpartError(f"The {what} is empty; write a sentence.")
    if len(text) > at_most:
        raise CounterpartError(f"The {what} has {len(text):,} characters; shorten it to {at_most:,}.")
    odd = [f"U+{ord(sign):04X}" for sign in text if unicodedata.category(sign) == "Cc" and sign not in ALLOWED]
    if odd:
        raise CounterpartError(f"The {what} contains {len(odd)} control characters: {some_of(odd)}. Remove them.")
    return text


def harmless(cell: str) -> str:
    """Prefix a cell that a spreadsheet would read as a formula with an apostrophe, which makes it text."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else cell
