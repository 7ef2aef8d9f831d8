"""The pairs that a round has not asked, by their probability of being a match, and how many matches it still misses."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from counterpart_statistics.audits import STOP_RECALL
from counterpart_statistics.estimation import Recall, Side, round_recall
from counterpart_statistics.estimation.intervals import FEWEST
from counterpart_statistics.pair_codes import Ids
from counterpart_statistics.selection.drawn_votes import matches_in
from counterpart_statistics.selection.pooled_queries import WholeQueries

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LikelyMatches:
    """The P pairs of a round of all pairs, those aside whose match was known beforehand.

    Attributes:
        codes: (P,) as of ``pair_codes``, ascending.
        probability: (P,) of a match. It is learned from audited queries and opened pairs of other images, and then
            corrected by the opened pairs of the same query and of the same item.
        gains: (P,) verdicts, NaN without one.
        opened: (P,) whether the order of likely matches has come to the pair before.
        recall: of the round so far; None where a direction has too few audited queries.
        missed: matches of audited queries to which the order has not come.
        stop_recall: the recall at which the round stops.
    """

    codes: NDArray[np.int64]
    probability: Floats
    gains: Floats
    opened: NDArray[np.bool_]
    recall: Recall | None = None
    missed: int = 0
    stop_recall: float = STOP_RECALL

    @classmethod
    def of(cls, wholes: Sequence[WholeQueries], *, stop_recall: float = STOP_RECALL) -> "LikelyMatches":
        """Join the directions: a pair of two queries is asked once, and is as likely as the likelier of both says."""
        parts = []
        missed = []
        for whole in wholes:
            queries = whole.queries
            asked = queries.asked
            parts.append((queries.codes[asked], whole.after_opened[asked], queries.gains[asked], whole.opened[asked]))
            missed.append(queries.codes[asked & whole.audited[:, None] & ~whole.opened & whole.matches])
        codes, probability, gains, opened = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.lexsort((-probability, codes))
        first = order[np.diff(codes[order], prepend=-1) != 0]
        n_missed = len(np.unique(np.concatenate(missed)))
        return cls(
            codes[first], probability[first], gains[first], opened[first], recall_of(wholes), n_missed, stop_recall
        )

    @property
    def found(self) -> int:
        """Matches that judgments have found."""
        return int((np.nan_to_num(self.gains) > 0).sum())

    def row(self) -> dict[str, float | str]:
        """Return what JSON has of it."""
        return {"found": self.found, **(self.recall.row() if self.recall else {})}

    @property
    def said(self) -> str:
        """Return a sentence on how far the round has come."""
        one = self.recall
        if one is None:
            return f"Recall is estimated from {FEWEST} audited queries of each direction on."
        if one.counted:
            return f"All pairs are judged: {one.found:,} matches, counted."
        if not self.missed:
            rest = one.matches_high - one.found
            return f"No audited query misses a match; up to {rest:,.0f} matches may still be missing."
        return (
            f"About {one.value:.0%} of the matches are found ({one.level:.0%}: {one.low:.0%} to {one.high:.0%}): "
            f"{one.found:,} of about {one.matches:,.0f}, estimated from {one.n_audited:,} audited queries."
        )

    @cached_property
    def enough(self) -> str:
        """Return why no further batch is needed; empty if one is."""
        one = self.recall
        if one is None or not one.is_enough(self.stop_recall):
            return ""
        return f"Enough: about {one.value:.0%} found; the {one.level:.0%} interval starts at {one.low:.0%}."

    def next_batch(self, size: int) -> "Batch":
        """Return the likeliest pairs that the order has not come to, until ``size`` of them have no verdict.

        Pairs of audited queries are part of the order, though they cost nothing: the expected metrics of a query must
        know the same labels whether it is audited or not (docs/estimation.md, formula 12).
        """
        left = np.flatnonzero(~self.opened)
        order = left[np.lexsort((self.codes[left], -self.probability[left]))]
        unjudged = np.isnan(self.gains[order])
        until = np.searchsorted(np.cumsum(unjudged), size) + 1
        batch = order[:until]
        asked = batch[np.isnan(self.gains[batch])]
        audited = batch[~np.isnan(self.gains[batch])]
        return Batch(self.codes[asked], self.codes[audited], float(self.probability[asked].sum()))


@dataclass(frozen=True)
class Batch:
    """Codes of the pairs to ask, and of the pairs of audited queries between them in the order."""

    asked: Ids
    audited: Ids
    matches: float
    """Matches to expect among those that are asked."""


def recall_of(wholes: Sequence[WholeQueries]) -> Recall | None:
    """Return the recall of a round by its audit, each pair once over the directions; None where a direction has too
    few audited queries."""
    if any(whole.audited.sum() < FEWEST and not whole.audited.all() for whole in wholes):
        return None
    waiting = [whole.queries.codes[np.isnan(whole.queries.gains)] for whole in wholes]
    unjudged = len(np.unique(np.concatenate(waiting)))
    return round_recall([*sides_of(wholes)], len(matches_in(wholes)), unjudged=unjudged)


def sides_of(wholes: Sequence[WholeQueries], *, of_both: bool = False) -> Iterator[Side]:
    """Yield the sides of a round (formula 14): of all its pairs, or only of those ``of_both`` directions.

    The probability of a pair is not learned from the audit's labels of its own query: it comes from the labels of other
    images, and is corrected by opened pairs, which are known in audited queries and in others alike.
    """
    asked = np.concatenate([whole.queries.codes[whole.queries.asked] for whole in wholes])
    distinct, directions = np.unique(asked, return_counts=True)
    for whole in wholes:
        queries = whole.queries
        asking = directions[np.searchsorted(distinct, queries.codes[queries.asked])]
        part = np.zeros(queries.codes.shape)
        part[queries.asked] = np.where(asking > 1, 1 / asking, 0.0) if of_both else 1 / asking
        label = whole.matches.astype(np.float64)
        # Where every query was judged, each pair has its label and no probability is learned.
        known = np.where(
            whole.opened & ~np.isnan(queries.gains), label, 0 if whole.audited.all() else whole.after_opened
        )
        off = (part * (label - known))[whole.audited].sum(axis=1)
        yield Side(off, len(queries.keys), float((part * known).sum()))
