"""What a reader of a run's figures has to know: lists that end early, ties that decide, scores that say nothing, ranks
against scores, lists in reverse, ids that nothing else has."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from counterpart_metrics.arrays import DIRECTIONS, NO_ITEM, Floats, Integers, Mask, Rankings
from counterpart_metrics.errors import counted, some_of
from counterpart_metrics.found import Found
from counterpart_metrics.ids import Ids
from counterpart_metrics.ranking_blocks import Block

LONG = 20  # entries of a list, and lists, from which the place of the matches shows a reversed order
LOW = 0.75  # of the way down; by chance 0.5


@dataclass
class _Side:
    """The counts of one direction."""

    lists: int = 0
    equal: int = 0
    short: int = 0
    missing: int = 0
    tied: int = 0
    below: Floats = field(default_factory=lambda: np.zeros(1))
    above: Floats = field(default_factory=lambda: np.zeros(1))
    placed: list[float] = field(default_factory=list)


class RunNotes:
    """Gathers, block by block, what there is to say of one run on one target."""

    def __init__(self) -> None:
        self._sides: dict[str, _Side] = {}
        self._lists = 0
        self._contradicted = 0
        self._listed = Counter[str]()
        self._strange = Counter[str]()

    def take(self, block: Block, ids: Ids) -> None:
        """Count the lists, those with equal scores, those whose ranks contradict their scores, and strange items."""
        side = self._sides.setdefault(block.direction, _Side())
        rankings = block.rankings
        listed = rankings.items[rankings.items != NO_ITEM]
        items = "captions" if block.direction == "i2t" else "images"
        self._listed[items] += len(listed)
        self._strange[items] += ids.of(block.direction)[1].count_strangers(listed)
        both = rankings.items[:, 1:] != NO_ITEM
        self._lists += len(both)
        self._contradicted += rankings.contradicted
        side.lists += len(both)
        if rankings.scores is not None:
            falls = both & (rankings.scores[:, 1:] < rankings.scores[:, :-1])
            side.equal += int((both.any(1) & ~falls.any(1)).sum())

    def found(self, direction: str, found: Found, *, short_is_wrong: bool) -> None:
        """Count the lists with fewer entries than matches, and note where in the lists the matches are."""
        side = self._sides[direction]
        missing = (found.qrels.positives - found.lengths)[found.qrels.positives > found.lengths]
        if short_is_wrong and len(missing):
            side.short += len(missing)
            side.missing = max(side.missing, int(missing.max()))
        lengths = found.lengths[found.qrels.rows]
        counts = found.qrels.matches & (found.ranks > 0) & (lengths >= LONG)
        side.placed += ((found.ranks[counts] - 1) / (lengths[counts] - 1)).tolist()

    def ties(self, direction: str, low: Floats, value: Floats, high: Floats) -> None:
        """Take what metrics of lists with ties, (metrics, Q), are worth at lowest, as listed, and at highest."""
        side = self._sides[direction]
        side.tied += int((high > low).any(0).sum())
        side.below = side.below + np.nansum(low - value, axis=1)
        side.above = side.above + np.nansum(high - value, axis=1)

    def sentences(self, names: Sequence[str], values: Mapping[str, Floats], ids: Ids) -> list[str]:
        """Return the notes. ``values`` are those of the metrics ``names`` by direction, (metrics, Q)."""
        return [
            *(
                f"{DIRECTIONS[name]}: {note}"
                for name, side in self._sides.items()
                if name in values
                for note in _of_side(side, names, values[name])
            ),
            *self._of_run(),
            *self._strangers(ids),
        ]

    def _of_run(self) -> list[str]:
        if not self._contradicted:
            return []
        return [
            f"in {self._contradicted:,} of {counted(self._lists, 'list')} the rank column contradicts the scores: the "
            "highest score came first, whatever its rank. Of distances, write the negative as scores."
        ]

    def _strangers(self, ids: Ids) -> list[str]:
        """Name queries that are left out, and items where lists have mostly strange ones: an export has no others than
        those judged."""
        found = {"queries": (list(ids.left_out), "are left out")} if ids.left_out else {}
        for side, keys in {"images": ids.images, "captions": ids.captions}.items():
            if 2 * self._strange[side] > self._listed[side]:
                found[side] = keys.strangers, "count as no match"
        return [
            f"ids that are not in the export: {len(keys):,} {side}, which {outcome}: {some_of(keys)}."
            for side, (keys, outcome) in found.items()
        ]


def _of_side(side: _Side, names: Sequence[str], values: Floats) -> list[str]:
    notes = []
    if side.short:
        notes.append(
            f"{counted(side.short, 'query has', 'queries have')} more positives than entries in their list, by up to "
            f"{side.missing}; the missing entries count as wrong."
        )
    if side.equal:
        notes.append(f"in {side.equal:,} of {counted(side.lists, 'list')} all scores are equal.")
    if side.tied:
        means = np.nanmean(values, axis=1)
        n = np.maximum((~np.isnan(values)).sum(1), 1)
        low, high = 100 * (means + side.below / n), 100 * (means + side.above / n)
        widest = int((high - low).argmax())
        notes.append(
            f"equal scores decide in {counted(side.tied, 'list')}; {names[widest]} is between {low[widest]:.1f} and "
            f"{high[widest]:.1f}, by their order (--ties)."
        )
    if len(side.placed) >= LONG and (way := float(np.mean(side.placed))) > LOW:
        notes.append(f"the matches are {way:.0%} of the way down their lists: is the best item last?")
    return notes


def with_ties(rankings: Rankings, found: Found) -> Mask:
    """Return (Q,) the queries of the judgments that have a match next to an item of the same score."""
    qrels = found.qrels
    tied = np.zeros(len(qrels.queries), np.bool_)
    if rankings.scores is None or not rankings.items.shape[1]:
        return tied
    matches = np.flatnonzero(qrels.matches & (found.ranks > 0))
    rows: Integers = np.searchsorted(rankings.queries, qrels.queries)[qrels.rows[matches]]
    places = found.ranks[matches] - 1
    for neighbour in (places - 1, places + 1):
        inside = (neighbour >= 0) & (neighbour < rankings.items.shape[1])
        near = np.clip(neighbour, 0, rankings.items.shape[1] - 1)
        same = rankings.scores[rows, near] == rankings.scores[rows, places]
        tied[qrels.rows[matches[inside & same & (rankings.items[rows, near] != NO_ITEM)]]] = True
    return tied
