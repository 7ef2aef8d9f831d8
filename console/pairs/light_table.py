"""How the pairs of a place are laid out: a grid of pictures or a table, with chosen columns, one side or two; and the
filters that are set, each with the address that leaves it out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

from django import forms
from django.core.paginator import Page
from django.http import HttpRequest, QueryDict

from console.pagination import page_of
from console.pairs.pair_filters import PairFilter, PairSide
from console.pairs.pair_lines import Line, Pair, lines_of
from console.pairs.places import PairScope

VIEWS = {"grid": "Pictures", "table": "Table"}
COLUMNS = {
    "proposed": "Proposed by",
    "votes": "Votes",
    "verdict": "Verdict",
    "review": "Review",
    "keys": "Picture and caption",
}
AT_FIRST = {"grid": ["verdict", "proposed", "review"], "table": ["proposed", "votes", "verdict", "review"]}
"""The columns of a view before any are chosen."""
MOST = 10_000
"""How many pairs of all sides are counted and paged: the database stops there."""
SIZES = (24, 60)  # pairs a page: the first are five screens of a phone at most
PLAIN = ("sort",)
"""Fields of the filter that leave out no pair, and so have no chip."""


@dataclass(frozen=True)
class Layout:
    """The view, its columns and the number of pairs a page, as the address chooses them."""

    view: str
    columns: Sequence[str]
    size: int

    @property
    def heads(self) -> list[tuple[str, str]]:
        """Each shown column with its title."""
        return [(name, COLUMNS[name]) for name in self.columns]

    @property
    def query(self) -> str:
        """The choices that differ from those of a first visit, as a query string."""
        chosen = {
            "view": self.view if self.view != "grid" else "",
            "columns": self.columns if self.columns != AT_FIRST[self.view] else [],
            "size": self.size if self.size != SIZES[0] else "",
        }
        return urlencode({name: value for name, value in chosen.items() if value}, doseq=True)


def layout_of(address: QueryDict) -> Layout:
    """Return the layout of ``?view=``, ``?columns=`` and ``?size=``; an unknown or missing value is the default.
    Two sides are grids: a page has no room for two tables."""
    view = "table" if address.get("view") == "table" and not address.get("beside") else "grid"
    first = AT_FIRST[view]
    chosen = [name for name in COLUMNS if name in address.getlist("columns")]
    columns = chosen if chosen and set(chosen) != set(first) else first  # The form sends the default columns too.
    size = next((size for size in SIZES if address.get("size") == str(size)), SIZES[0])
    return Layout(view, columns, size)


class SavedFilterForm(forms.Form):
    """The name of a filter that a person keeps."""

    name = forms.CharField(max_length=40)


@dataclass(frozen=True)
class Chip:
    """A filter that is set, in words, and the query string of the page without it."""

    label: str
    value: str
    without: str


def chips_of(form: PairFilter, address: QueryDict) -> list[Chip]:
    """Return a chip for each condition of a valid filter, which the address holds."""
    return [
        Chip(str(form[name].label), _words(form, name), _without(address, name))
        for name in form.fields
        if name not in PLAIN and address.get(name)
    ]


def _words(form: PairFilter, name: str) -> str:
    chosen: Any = form.cleaned_data[name]
    if chosen is True:
        return "yes"
    field = form.fields[name]
    named = cast("Iterable[tuple[str, str]]", field.choices) if type(field) is forms.ChoiceField else []
    return str(dict(named).get(chosen, chosen))


def _without(address: QueryDict, name: str) -> str:
    """Return the query string without a filter, the page number and empty values."""
    kept = QueryDict(mutable=True)
    for key, values in address.lists():
        if key not in (name, "page"):
            kept.setlist(key, [value for value in values if value])
    return kept.urlencode()


@dataclass(frozen=True)
class ShownSide:
    """A side of the page: its title, empty where there is one side only, its lines, how many pairs it has in all, and
    whether there are more than were counted."""

    title: str
    place: PairScope
    lines: list[Line]
    total: int
    has_more: bool


def page_and_sides(request: HttpRequest, form: PairFilter, size_of_all: int) -> tuple[Page, list[ShownSide]]:
    """Return the page of the longest side of a valid filter, and the lines of each side, ``size_of_all`` in all."""
    sides = form.sides()
    size = size_of_all // len(sides)
    most = MOST // len(sides)
    # One query a side, where a count would be a second one.
    found = [list(side.pairs[:most]) for side in sides]
    page = page_of(request, max(found, key=len), size=size)
    first = size * (page.number - 1)
    return page, [
        ShownSide(side.title, side.place, _lines(side, pairs[first : first + size]), len(pairs), len(pairs) == most)
        for side, pairs in zip(sides, found, strict=True)
    ]


def _lines(side: PairSide, pairs: list[Pair]) -> list[Line]:
    return lines_of(side.place, pairs) if pairs else []
