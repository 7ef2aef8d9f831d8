"""Sentences that workers write: which are taken as an answer."""

import unicodedata

from core.errors import CounterpartError
from core.text import check_words, is_visible

FEWEST_WORDS = 3
LONGEST = 1_000
FEWEST_LETTERS = 5
"""Where a script has no spaces between words."""


def tidied(text: str) -> str:
    """Return the text in one line, without blanks at its ends and with single ones between words."""
    return " ".join(text.split())


def check_sentence(text: str, *, what: str, complete: bool) -> None:
    """Raise CounterpartError, which calls the text ``what``, where it is too long or holds control characters; where it
    is ``complete``, also unless it has a few words."""
    check_words(text, what=what, at_most=LONGEST)
    if complete and not has_words(text):
        raise CounterpartError(f"The {what} has fewer than {FEWEST_WORDS} words. Write a whole sentence.")


def has_words(text: str) -> bool:
    """Whether the text has three words of letters or, in a script without capitals and blanks, five letters.

    >>> has_words("A dog runs."), has_words("A dog."), has_words("- 1 2 3"), has_words("一只狗在跑。")
    (True, False, False, True)
    """
    words = [word for word in text.split() if any(sign.isalpha() and is_visible(sign) for sign in word)]
    letters = sum(unicodedata.category(sign) == "Lo" and is_visible(sign) for sign in text)
    return len(words) >= FEWEST_WORDS or letters >= FEWEST_LETTERS


def core_of(text: str) -> str:
    """Return what makes two sentences the same: their letters with their marks, and digits, whatever the case."""
    signs = (sign if unicodedata.category(sign)[0] in "LMN" else " " for sign in text.casefold())
    return tidied("".join(signs))
