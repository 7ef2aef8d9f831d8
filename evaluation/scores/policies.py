"""Policies of an evaluation: the order of items with equal scores, and what lists that end early are worth."""

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from django import forms

from core.errors import CounterpartError
from core.parameters import Parameters, choices
from evaluation.metrics import Found, Names, Qrels, Rankings, by_score, check_depth, find, open_extremes, tie_extremes

Ties = Literal["file", "counterpart", "trec", "interval"]
Missing = Literal["wrong", "interval", "refuse"]


@dataclass(frozen=True, kw_only=True)
class Policies(Parameters):
    """How rankings are read where they leave something open.

    Attributes:
        ties: equal scores keep the ``file``'s order; the item imported first comes first (``counterpart``; with COCO's
            ids the smaller one); trec_eval's order (``trec``): the larger id as text comes first; or all orders count
            (``interval``).
        missing: ranks beyond the end of a list are ``wrong``; the list may go on in any way (``interval``); or a list
            that is shorter than the query's number of matches is refused (``refuse``).
    """

    ties: Annotated[
        Ties,
        forms.ChoiceField(
            choices=choices(*get_args(Ties)),
            help_text="of equal scores, keep the file's order, ours or trec_eval's, or print the interval over all "
            "orders",
        ),
    ] = "file"
    missing: Annotated[
        Missing,
        forms.ChoiceField(
            choices=choices(*get_args(Missing)),
            help_text="ranks beyond the end of a list are wrong, an interval, or refused",
        ),
    ] = "wrong"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ties == "interval" and self.missing == "interval":
            raise CounterpartError("An interval is of ties or of missing ranks. Choose interval for one of them.")

    @property
    def leave_interval(self) -> bool:
        return "interval" in (self.ties, self.missing)

    def extremes(self, rankings: Rankings, qrels: Qrels, names: Names) -> tuple[Found, Found]:
        """Return where the judged items stand at best and at worst, in either order; the same twice without intervals.

        ``names``: the texts of items, for trec_eval's order. Raises ValueError as the functions of
        ``evaluation.metrics`` do.
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
