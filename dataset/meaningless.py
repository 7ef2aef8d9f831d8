"""Captions that seem to describe no picture: a list of suggestions for a person, never a decision."""

import re
from collections.abc import Iterable

_PICTURE = r"(?:images?|pictures?|photos?|photographs?)"
FEWEST_WORDS = 4
_WORD = re.compile(r"[^\W_]+")
SIGNS = {
    "says that there is no picture": re.compile(
        rf"\b(?:no|missing|without an?) {_PICTURE}\b|\bblank {_PICTURE}\b|\bno longer available\b"
        rf"|\b{_PICTURE} (?:(?:is|are|was|did|does) )?(?:not|missing|unavailable|broken)\b",
        re.IGNORECASE,
    ),
    "says that it cannot be seen": re.compile(
        r"\b(?:unable to|cannot|can ?not|can'?t|could not|couldn'?t) (?:\w+ )?(?:see|view|tell|load|describe|make)\b"
        r"|\bnot (?:able to|visible|loading|showing|available)\b",
        re.IGNORECASE,
    ),
    "speaks of the task": re.compile(
        r"\b(?:captions?|describe|description|write about|reviewed|this hit|blank)\b", re.IGNORECASE
    ),
    "speaks of its writer": re.compile(r"^(?:I|I'?m)\b|\bI (?:am|can|could|do|have|think|see)|\b[Mm]y\b"),
}
"""What makes a caption suspect. Written with the 18 meaningless captions of ECCV Caption in view, so that finding those
says little about other collections."""


def why_meaningless(text: str) -> str:
    """Return what makes a caption suspect, or an empty text.

    >>> why_meaningless("I am unable to see an image above.")
    'says that it cannot be seen, speaks of its writer'
    >>> why_meaningless("A man with a red helmet on a small moped.")
    ''
    """
    signs = [sign for sign, pattern in SIGNS.items() if pattern.search(text.strip())]
    if len(_WORD.findall(text)) < FEWEST_WORDS:
        signs.append(f"has fewer than {FEWEST_WORDS} words")
    return ", ".join(signs)


def meaningless(captions: Iterable[tuple[int, str]]) -> dict[int, str]:
    """Return the suspect captions among (id, text), with why."""
    return {key: why for key, text in captions if (why := why_meaningless(text))}
