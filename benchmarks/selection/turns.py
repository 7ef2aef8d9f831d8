"""Several turns: the matches of a turn teach annotators, which propose pairs that nobody judged yet.

Replayed on ECCV Caption's queries, in the product's way: a round of audit and likely matches ends before its pool is
judged; relevance feedback moves images towards the captions that match them and captions towards their images, and both
away from what was rejected; the next round's pool holds the first places of every annotator's list that no label is
known of. An own caption moves nothing and is in no pair that is asked, as it is known to match.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.estimation.beds import ANNOTATORS, DEPTH, TOP, Bed, World
from benchmarks.estimation.guards import round_of
from benchmarks.selection.policies import likely_steps
from counterpart_statistics.correlation import tau_b
from counterpart_statistics.estimation import UNLISTED, pool_metrics

TOWARDS, AWAY = 0.5, 0.25  # shares of the matches' and the rejected items' means that are added
AUDIT = 0.01  # of the queries, in each turn

Lists = Mapping[str, tuple[NDArray[np.int64], NDArray[np.float32]]]
"""The first items of each query, (Q, D), and their scores, by model."""
Outcome = tuple[float, float, float, float]
"""Judgments as a share of the whole round's over the first pool, and how far the models' mAP@R by the matches found is
from that by all listed ones: mean, mean without the shift that all models share, and Kendall's τ of the order."""
Labels = Sequence[dict[int, bool]]
"""Whether an item matches the query, of each query's labelled items."""


@dataclass(frozen=True)
class Listed:
    """A world with the first places of its models' lists, and its first pool as a testbed."""

    world: World
    lists: Lists
    bed: Bed

    @classmethod
    def of(cls, world: World, bed: Bed) -> "Listed":
        depth = max(DEPTH, *map(len, world.true))
        return cls(world, {name: first_places(scores, depth) for name, scores in world.scores.items()}, bed)

    def whole_round(self) -> Outcome:
        """Judge every pair of the first pool."""
        labels = self._known()
        add_labels(self.bed, np.flatnonzero(self.bed.asked), labels)
        return 1.0, *self.bias(labels)

    def turns(self, shares: Sequence[float], texts: Mapping[str, NDArray], seed: int) -> Outcome:
        """Judge in turns until as many matches are found as the whole round finds.

        Args:
            shares: of the whole round's judgments, at which each turn but the last ends.
            texts: vectors of all captions, by the name of what they teach; none, and no annotator is taught.
        """
        bed, labels = self.bed, self._known()
        whole, target = int(bed.pairs.sum()), int((bed.gains[bed.asked] > 0).sum())
        spent = found = 0
        for ends in (*shares, np.inf):
            if spent:
                bed = self._beyond(labels, {name: taught(one, self.world, labels) for name, one in texts.items()})
            gains = bed.gains.ravel() > 0
            for step in likely_steps([round_of(bed, seed)], AUDIT, seed):
                places = _places(bed, step.asked, seed)
                places = places[: np.searchsorted(np.cumsum(gains[places]), target - found) + 1]
                add_labels(bed, places, labels)
                spent, found = spent + len(places), found + int(gains[places].sum())
                if found == target:
                    return spent / whole, *self.bias(labels)
                if spent >= ends * whole:
                    break
        raise ValueError(f"The pools of all turns hold {found} new matches, the first pool {target}.")

    def _beyond(self, labels: Labels, scores: Mapping[str, NDArray[np.float32]]) -> Bed:
        first = {name: tuple(column[:, :DEPTH] for column in self.lists[name]) for name in ANNOTATORS}
        lists = first | {f"taught-{name}": first_places(one, DEPTH) for name, one in scores.items()}
        return pooled_beyond(lists, labels, self.world.true, self.bed.groups)

    def _known(self) -> Labels:
        return [dict.fromkeys(free, True) for free in self.world.free]

    def bias(self, labels: Labels) -> tuple[float, float, float]:
        true = [sorted(found) for found in self.world.true]
        shape = len(true), max(map(len, true))
        ranks = np.full((len(self.lists), *shape), UNLISTED)
        all_of, found = np.zeros(shape), np.zeros(shape)
        for row, items in enumerate(true):
            all_of[row, : len(items)] = 1
            found[row, : len(items)] = [labels[row].get(item, False) for item in items]
            for model, (listed, _) in enumerate(self.lists.values()):
                ranks[model, row, : len(items)] = ranks_in(listed[row], items)
        wanted, counted = (pool_metrics(ranks, gains)[0].mean(axis=1) for gains in (all_of, found))
        off = counted - wanted
        return float(np.abs(off).mean()), float(np.abs(off - off.mean()).mean()), tau_b(counted, wanted)


def add_labels(bed: Bed, places: NDArray[np.int64], labels: Labels) -> None:
    """Note the labels of the pairs at these places of the flattened bed."""
    rows, columns = np.unravel_index(places, bed.gains.shape)
    for row, item, gain in zip(rows, bed.items[rows, columns].tolist(), bed.gains[rows, columns], strict=True):
        labels[row][item] = bool(gain > 0)


def first_places(scores: NDArray[np.float32], depth: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the items (Q, depth) of the highest scores (Q, N), best first, and these scores."""
    items = np.argpartition(-scores, depth - 1, axis=1)[:, :depth]
    found = np.take_along_axis(scores, items, axis=1)
    order = np.lexsort((items, -found), axis=1)
    return np.take_along_axis(items, order, axis=1), np.take_along_axis(found, order, axis=1)


def pooled_beyond(lists: Lists, labels: Labels, true: Sequence[set[int]], groups: NDArray[np.int64]) -> Bed:
    """Pool the first items of each list without a label."""
    universes = []
    for row, known in enumerate(labels):
        new = [[item for item in items[row].tolist() if item not in known][:TOP] for items, _ in lists.values()]
        universes.append(sorted({item for items in new for item in items}))
    shape = len(universes), max(map(len, universes))
    items, gains, known_gains = np.full(shape, -1), np.zeros(shape), np.zeros(shape)
    ranks, scores = np.full((len(lists), *shape), UNLISTED), np.full((len(lists), *shape), np.nan)
    for row, universe in enumerate(universes):
        width = len(universe)
        items[row, :width], known_gains[row, :width] = universe, np.nan
        gains[row, :width] = [item in true[row] for item in universe]
        for number, (listed, of_items) in enumerate(lists.values()):
            ranks[number, row, :width] = found = ranks_in(listed[row], universe)
            is_listed = np.flatnonzero(found < UNLISTED)
            scores[number, row, is_listed] = of_items[row, found[is_listed] - 1]
    return Bed("beyond", tuple(lists), ranks, scores, gains, known_gains, groups, items)


def ranks_in(listed: NDArray[np.int64], items: Sequence[int]) -> NDArray[np.int64]:
    place = {item: rank for rank, item in enumerate(listed.tolist(), 1)}
    return np.array([place.get(item, UNLISTED) for item in items])


def taught(captions: NDArray, world: World, labels: Labels) -> NDArray[np.float32]:
    """Return the scores (Q, N) of an annotator over these vectors (C, V) after relevance feedback."""
    owners = np.arange(captions.shape[0]) // 5
    images = _means(owners, np.arange(len(owners)), int(owners.max()) + 1, captions)
    moved_images, moved_captions = images, captions
    known = [(query, *pair) for query, own in zip(world.asking, labels, strict=True) for pair in own.items()]
    pairs = np.array(known, np.int64)
    for is_match, share in ((1, TOWARDS), (0, -AWAY)):
        image, caption = pairs[pairs[:, 2] == is_match, :2].T[:: 1 if world.to_captions else -1]
        others = owners[caption] != image
        image, caption = image[others], caption[others]
        moved_images = moved_images + share * _means(image, caption, images.shape[0], captions)
        moved_captions = moved_captions + share * _means(caption, image, captions.shape[0], images)
    queries, gallery = (moved_images, moved_captions)[:: 1 if world.to_captions else -1]
    found = queries[world.asking] @ gallery.T
    found = np.asarray(found.todense() if sparse.issparse(found) else found, np.float32)
    return np.asarray((found - found.mean(axis=1, keepdims=True)) / found.std(axis=1, keepdims=True), np.float32)


def _means(rows: NDArray[np.int64], others: NDArray[np.int64], count: int, vectors: NDArray) -> NDArray:
    """Return (count, V) the mean of the vectors that each row is paired with; zeros for one without a pair."""
    linked = sparse.csr_matrix((np.ones(len(rows), np.float32), (rows, others)), shape=(count, vectors.shape[0]))
    return sparse.diags(1 / np.maximum(np.asarray(linked.sum(axis=1)).ravel(), 1)).astype(np.float32) @ linked @ vectors


def _places(bed: Bed, codes: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Return the places of these pairs in the flattened bed."""
    every = round_of(bed, seed).queries.codes.ravel()
    order = np.argsort(every)
    return order[np.searchsorted(every[order], codes)]
