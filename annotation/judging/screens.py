"""The screens of a HIT as HTML. Nearly all of it is the same on many pages and takes long to render, so it is rendered
once, with numbers in place of the texts that differ."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape
from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language

from annotation.models import Report
from annotation.work.reports import LONGEST_NOTE
from annotation.work.written_captions import FEWEST_WORDS, LONGEST
from hits.question import WrongWay
from hits.task_types.task_type import Question

TEXTS = ("sentence", "language", "width", "height", "picture", "text")  # of a pair, that differ between pages
NUMBER = re.compile("\0(\\d+)\0")  # of a text, where it goes; no stored text has a NUL character


@dataclass(frozen=True)
class ShownPair:
    """One pair as it is shown. No key of a picture, caption or item, and nothing of its role, is here to leak."""

    place: int
    sentence: str
    language: str
    width: int | None
    height: int | None
    level: int | None = None
    shortcoming: str = ""
    wrong_way: str = ""
    saved: int = 0
    """When this answer was saved, in milliseconds since 1970; 0 if it was not."""
    seconds: int | None = None
    """How long it was shown and in use so far, if that is known."""
    text: str = ""
    """The written text, where the answer is a sentence."""
    reported: str = ""
    """The problem with the pair itself that the worker reported, in words."""
    picture: str = ""
    """The address of the picture, but for its size, and for its number where there are ``rankings``."""
    rankings: Sequence[Sequence[int]] = ()
    """The numbers of the pictures of each ranking that is compared."""
    is_large: bool = False
    """Whether a sharp screen shows more of it than the usual size holds."""


@dataclass(frozen=True)
class Screen:
    """A pair, or the pairs of one picture, which are answered together. ``name``: "Pair 3"."""

    number: int
    name: str
    pairs: Sequence[ShownPair]
    is_finished: bool

    @property
    def first(self) -> ShownPair:
        """The pair that gives the screen its place, and its picture."""
        return self.pairs[0]

    @property
    def saved(self) -> int:
        return max(pair.saved for pair in self.pairs)

    @property
    def rest(self) -> int | None:
        """The level of all its pairs, where none is ticked."""
        levels = {pair.level for pair in self.pairs}
        return self.first.level if len(levels) == 1 else None


def drawn(screens: Sequence[Screen], task: Question, *, wording: int, reasons: bool, can_skip: bool) -> SafeString:
    """Return the screens as HTML, in the language that is spoken now."""
    html: list[str] = []
    for screen in screens:
        texts: list[str] = []
        pairs = []
        for pair in screen.pairs:
            its = {name: str(text) for name in TEXTS if (text := getattr(pair, name))}
            numbers: dict[str, Any] = {name: f"\0{number}\0" for number, name in enumerate(its, len(texts))}
            pairs.append(replace(pair, **numbers))
            texts += its.values()
        shown = replace(screen, pairs=tuple(pairs))
        frame = _frame(shown, len(screens), task, wording, get_language(), reasons=reasons, can_skip=can_skip)
        html += (escape(texts[int(part)]) if place % 2 else part for place, part in enumerate(frame))
    return mark_safe("".join(html))  # noqa: S308  escaped above


@lru_cache(maxsize=1_000)
def _frame(
    screen: Screen, n: int, task: Question, wording: int, language: str | None, *, reasons: bool, can_skip: bool
) -> list[str]:
    """Return a screen, one of ``n``, in pieces: HTML, the number of a text, HTML, the number of a text …"""
    words = task.wordings[wording]
    context: dict[str, Any] = {"screen": screen, "n": n, "task": task, "can_skip": can_skip, **task.guide(wording)}
    context |= {"shortcomings": [*words.shortcomings.items()] if reasons else [], "why": words.why}
    context |= {"wrong_ways": WrongWay.choices, "no_picture": task.no_picture if can_skip else ""}
    context |= {"problems": Report.Problem.choices, "longest_note": LONGEST_NOTE}
    context["sentence_limits"] = {"words": FEWEST_WORDS, "characters": LONGEST}
    return NUMBER.split(render_to_string("judging/_screen.html", context))


@lru_cache
def drawn_help(task: Question, wording: int, language: str | None, *, reasons: bool, can_skip: bool) -> SafeString:
    """Return the enlarged picture and the help, which open over the screens, in the language that is spoken now."""
    context = {"task": task, "reasons": reasons, "can_skip": can_skip, **task.guide(wording)}
    return render_to_string("judging/_help.html", context)
