"""Whether the ranking of models is settled while the HITs of a round come in. Pure.

What is random is the order of the HITs: packing numbers them by a random permutation (full HITs first), so the first t
HITs are a sample of all full ones without replacement, whatever they hold and however long each takes. Pairs and
queries are no such sample: the pairs of a query are spread over HITs on purpose, and the queries that are complete
first are those with few pairs. So the HIT is the unit, and scores are sums over HITs: a model's score is the share of
its K best-ranked items that match, a mean over queries and directions (R@1 for K = 1, a query without matches counting
as 0).

Intervals are confidence sequences (``sequences``). They hold for however many looks, and for whoever stops at one of
them, if what people say of a HIT does not depend on its place in the order, and a HIT's verdicts do not change by what
is said of others. Majority votes are such verdicts; methods that learn about workers are so only nearly.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from counterpart_statistics.sequences import confidence_sequence

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

UNKNOWN = 0.5  # what a pair counts before it is judged: half-way, so that a pair moves a sum by at most a half
CLOSE = 1e-9  # scores that differ by less are equal: sums of many HITs differ in the last digits


@dataclass(frozen=True)
class Packed:
    """The P candidate pairs of a round, in HITs that are numbered from 0 in packing order.

    Attributes:
        weights: (M, P), what each pair counts in the score of each of M models, if it matches.
        hits: (P,) HIT of each pair.
        n_hits: number of HITs.
        n_full: number of those that are full, which come first and in random order.
    """

    weights: Floats
    hits: Ids
    n_hits: int
    n_full: int

    def per_hit(self, values: Floats) -> Floats:
        """Return the sums (M, n_hits) of weights times ``values`` (P,) over the pairs of each HIT."""
        sums = [np.bincount(self.hits, weight * values, minlength=self.n_hits) for weight in self.weights]
        return np.array(sums, float).reshape(len(self.weights), self.n_hits)


@dataclass(frozen=True)
class Look:
    """The scores after the first ``hits`` HITs, with intervals that hold at all looks.

    Attributes:
        scores, low, high: (M,) estimates of the scores once every HIT is judged; the interval of each model alone has
            the stated confidence.
        ahead: (M, M), 1 where the row's model is certainly ahead of the column's, -1 where it is behind, 0 where it
            is open. All of them together have the stated confidence.
        equal: (M, M), whether the two certainly differ by no more than the margin.
    """

    hits: int
    scores: Floats
    low: Floats
    high: Floats
    ahead: NDArray[np.int64]
    equal: NDArray[np.bool_]

    @property
    def order(self) -> Ids:
        """The models (M,), best first; of equal scores the first."""
        return np.argsort(-self.scores, kind="stable")

    def open_places(self, places: int | None = None) -> list[tuple[int, int]]:
        """Return the models that follow each other in the ranking and whose order is open; with ``places``, only what
        concerns the first places: their order, and that no later model belongs to them."""
        return [(one, other) for one, other in self._unordered(places) if not self.equal[one, other]]

    def ties(self, places: int | None = None) -> list[tuple[int, int]]:
        """Return the models that follow each other in the ranking and are certainly equal."""
        return [(one, other) for one, other in self._unordered(places) if self.equal[one, other]]

    def _unordered(self, places: int | None) -> list[tuple[int, int]]:
        order = self.order.tolist()
        last = len(order) - 1 if places is None else min(places, len(order) - 1)
        wanted = [(order[place], order[place + 1]) for place in range(last)]
        if last:
            wanted += [(order[last - 1], behind) for behind in order[last + 1 :]] if places is not None else []
        return [(one, other) for one, other in wanted if self.ahead[one, other] < 1]

    def is_settled(self, places: int | None = None) -> bool:
        return not self.open_places(places)


def look_at(packed: Packed, values: Floats, hits: int, *, alpha: float = 0.05, margin: float = 0.0) -> Look:
    """Return what the first ``hits`` HITs say of the models' scores.

    Args:
        values: (P,) what each pair's verdict counts, 0..1; only those of the first ``hits`` HITs are read.
        alpha: probability that an interval of a model is ever wrong, and that any statement on who is ahead ever is.
        margin: models that certainly differ by no more than this count as equal.

    Raises ValueError for fewer than two models, and if no HIT is judged or there are fewer.
    """
    if len(packed.weights) < 2:
        raise ValueError("A ranking needs two or more models.")
    if not 1 <= hits <= packed.n_hits:
        raise ValueError(f"Of {packed.n_hits} HITs, {hits} cannot be judged.")
    seen = np.where(packed.hits < hits, values, UNKNOWN) - UNKNOWN
    sums = packed.per_hit(seen)
    reach = packed.per_hit(np.full(len(values), UNKNOWN))
    base = UNKNOWN * packed.weights.sum(axis=1)
    low, high = _totals(sums, reach, hits, packed.n_full, alpha)
    pairs = np.array(list(combinations(range(len(sums)), 2)))
    first, second = pairs.T
    apart = _reach_of_differences(packed, pairs)
    # Each statement may err with its share of alpha, so that all are right with probability 1 - alpha.
    least, most = _totals(sums[first] - sums[second], apart, hits, packed.n_full, alpha / len(pairs))
    shift = base[first] - base[second]
    least = least + shift
    most = most + shift
    ahead = np.zeros((len(sums), len(sums)), np.int64)
    equal = np.eye(len(sums), dtype=bool)
    ahead[first, second] = (least > CLOSE).astype(int) - (most < -CLOSE)
    ahead[second, first] = -ahead[first, second]
    equal[first, second] = equal[second, first] = (least >= -margin - CLOSE) & (most <= margin + CLOSE)
    counted = min(hits, packed.n_full)
    estimate = (
        base + sums[:, :counted].sum(axis=1) * packed.n_full / max(counted, 1) + sums[:, packed.n_full :].sum(axis=1)
    )
    return Look(hits, np.clip(estimate, low + base, high + base), low + base, high + base, ahead, equal)


def _totals(sums: Floats, reach: Floats, hits: int, full: int, alpha: float) -> tuple[Floats, Floats]:
    """Return bounds (n,) of the sum over all HITs, from ``sums`` (n, n_hits) of the first ``hits`` of them.

    ``reach`` (n, n_hits) is how far from 0 each HIT's sum can be. HITs that are not full come last, not in random
    order, so those of them that are not judged may be anything.
    """
    bound = reach[:, :full].max(axis=1, initial=0.0)
    counted = min(hits, full)
    short = sums[:, full:hits].sum(axis=1)
    rest = reach[:, max(hits, full) :].sum(axis=1)
    if not counted:
        return short - rest, short + rest
    low, high = confidence_sequence(sums[:, :counted].T, bounds=(-bound, bound), population=full, alpha=alpha)
    return low[0] * full + short - rest, high[0] * full + short + rest


def _reach_of_differences(packed: Packed, pairs: Ids) -> Floats:
    """Return (n, n_hits), how far from 0 each HIT's difference of two models' sums can be."""
    apart = np.abs(packed.weights[pairs[:, 0]] - packed.weights[pairs[:, 1]])
    return Packed(apart, packed.hits, packed.n_hits, packed.n_full).per_hit(np.full(len(packed.hits), UNKNOWN))
