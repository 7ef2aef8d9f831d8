"""Policies of an evaluation: the order of items with equal scores, and what lists that end early are worth."""

from dataclasses import dataclass
from typing import Literal, get_args

from counterpart_metrics.arrays import Qrels, Rankings
from counterpart_metrics.errors import CounterpartError
from counterpart_metrics.found import Found, find
from counterpart_metrics.ties import Names, by_score, tie_extremes
from counterpart_metrics.truncation import check_depth, open_extremes

Ties = Literal["file", "counterpart", "trec", "interval"]
Missing = Literal["wrong", "interval", "refuse"]
TIES: tuple[Ties, ...] = get_args(Ties)
MISSING: tuple[Missing, ...] = get_args(Missing)


@dataclass(frozen=True)
class Policies:
    """How rankings are read where they leave something open.

    Attributes:
        ties: equal scores keep the ``file``'s order; the smaller id comes first, numbers by size and before texts
            (``counterpart``); trec_eval's order (``trec``): the larger id as text comes first; or all orders count
            (``interval``).
        missing: ranks beyond the end of a list are ``wrong``; the list may go on in any way (``interval``); or a list
            that is shorter than the query's number of matches is refused (``refuse``).

    Raises:
        CounterpartError: for another word, and for an interval of both.
    """

    ties: Ties = "file"
    missing: Missing = "wrong"

    def __post_init__(self) -> None:
        for name, words in (("ties", TIES), ("missing", MISSING)):
            if getattr(self, name) not in words:
                raise CounterpartError(f"Unknown policy {getattr(self, name)!r} of {name}: use {', '.join(words)}.")
        if self.ties == "interval" and self.missing == "interval":
            raise CounterpartError("An interval is of ties or of missing ranks. Choose interval for one of them.")

    @property
    def leave_interval(self) -> bool:
        return "interval" in (self.ties, self.missing)

    def extremes(self, rankings: Rankings, qrels: Qrels, names: Names) -> tuple[Found, Found]:
        """Return the judged items' ranks at best and at worst, in either order; the same twice without intervals.

        ``names``: the ids of items, as texts. Raises ValueError as ``find``, ``by_score`` and
        ``check_depth`` do.
        """
        if self.ties == "interval":
            return tie_extremes(rankings, qrels)
        found = find(rankings if self.ties == "file" else by_score(rankings, self.ties, names), qrels)
        if self.missing == "interval":
            return open_extremes(found)
        if self.missing == "refuse":
            check_depth(found)
        return found, found


DEFAULT = Policies()
