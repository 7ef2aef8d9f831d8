"""What the lists of a search say of the search itself, in words, and the refusal of those that say nothing."""

from collections.abc import Mapping

import numpy as np

from core.errors import CounterpartError
from core.text import counted
from counterpart_topk.list_figures import CUT, Blocks, Figures, report_lists, says_nothing
from mitl.models import Annotator, Direction
from mitl.search.gallery import RankedLists

BLIND = 0.1
"""Largest share of lists without information that a pool takes: as many HITs go to chance as a round spends on
controls, where two of 18 pairs are controls."""
SAME = 0.5  # largest share of lists that begin with the same items, of at least as many lists as those items are
NEAR = 0.99  # length of the mean of unit vectors, above which they point in one direction


def report_search(lists: Mapping[Direction, Blocks], shape: tuple[int, int]) -> Figures:
    """Return the figures of each direction's lists; ``shape``: the numbers of images and captions searched."""
    n_images, n_captions = shape
    sizes = {Direction.IMAGE_TO_CAPTION: n_captions, Direction.CAPTION_TO_IMAGE: n_images}
    return {direction.value: report_lists(blocks, sizes[direction]) for direction, blocks in lists.items()}


HEADS = ("lists", "say nothing", "tied at 5", "row order", "same list", "hub in", "never found", "skewness")
"""Of the columns of ``rows_of``, after that of the direction."""


def rows_of(report: Figures) -> list[list[str]]:
    """Return a row of cells for each direction of a stored report: its label, and the columns of ``HEADS``."""
    return [
        [
            direction.label,
            f"{of['lists']:,}",
            *(f"{of[name]:.1%}" for name in ("blind", "tied", "in_order", "same", "hub")),
            f"{of['unfound']:.0%} (by chance {of['unfound_by_chance']:.0%})",
            f"{of['skewness']:.2f}",
        ]
        for direction in Direction
        if (of := report.get(direction.value))
    ]


def notes_on(report: Figures) -> list[str]:
    """Return a sentence for each figure of a stored report that speaks against the search."""
    notes = []
    for direction in Direction:
        of = report.get(direction.value, {})
        for name, most, words in (
            ("blind", 0, "have equal scores, and are in the order of the rows"),
            ("in_order", BLIND, "are in the order of the rows"),
            ("same", SAME, "begin with the same items"),
            ("tied", 0.5, f"have a tie at place {CUT}, which the order of the rows decides"),
        ):
            if of.get(name, 0) > most:
                notes.append(f"{direction.label}: {of[name]:.1%} of {counted(of['lists'], 'list')} {words}.")
    for side, of in report.get("vectors", {}).items():
        if of["copies"] > BLIND:
            notes.append(f"{of['copies']:.1%} of {of['vectors']:,} vectors of {side} are copies of others.")
        if of["alike"] > NEAR:
            notes.append(f"The vectors of {side} have nearly one direction ({of['alike']:.3f}; 1: all have the same).")
    return notes


def refuse_blind(annotator: Annotator, direction: Direction, lists: RankedLists) -> None:
    """Raise CounterpartError with the figures where more than ``BLIND`` of the lists say nothing, or more than ``SAME``
    begin with the same items."""
    blind = says_nothing(lists.items, lists.scores)
    alike = np.unique(lists.items[:, :CUT], axis=0, return_counts=True)[1].max(initial=0)
    is_long = min(lists.items.shape) >= CUT
    for found, most, words in (
        (blind.sum(), BLIND, "have equal scores, and are in the order of the rows"),
        (alike if is_long else 0, SAME, "begin with the same items"),
    ):
        if found > most * len(blind):
            raise CounterpartError(
                f"{annotator}, {direction.label}: {found:,} of {counted(len(blind), 'list')} {words}; a pool takes at "
                f"most {most:.0%}, as people would be paid to judge pairs by chance. Leave this annotator out, or pass "
                "--accept-blind."
            )
