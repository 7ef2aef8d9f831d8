"""Model bias: how much the scores of models depend on the annotators that proposed the judged pairs. Pure.

s_Theta(phi) is the score of annotator phi on the pairs that the annotators Theta proposed, s_All(phi) that on all of
them. The bias of Theta is the mean of |s_Theta - s_All| over all annotators, its self-bias that over Theta, its
non-self-bias that over the others (ECCV Caption, appendix E, equation E.5).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterpart_metrics import Found, Metric, WithoutPositives, mean_over_queries

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Scores = Mapping[str, float] | ArrayLike

LARGEST = 12  # annotators: 4,095 subsets


def model_bias(scores_subset: Scores, scores_all: Scores) -> float:
    """Return B_Theta, the mean over annotators of ``|scores_subset - scores_all|`` (equation E.5), in their unit.

    Both are mappings from annotator to score, or sequences in the same order of annotators. Raises ValueError if they
    are of different annotators or of none.

    >>> round(model_bias([76.5, 68.0, 67.7, 59.5, 51.7], [76.6, 80.1, 77.4, 72.4, 64.3]), 2)  # {PVSE}, table E.1a
    9.48
    """
    if isinstance(scores_subset, Mapping) and isinstance(scores_all, Mapping):
        if scores_subset.keys() != scores_all.keys():
            only = sorted(map(str, scores_subset.keys() ^ scores_all.keys()))
            raise ValueError(f"{len(only)} annotators have only one of two scores: {', '.join(only)}.")
        scores_all = [scores_all[annotator] for annotator in scores_subset]
        scores_subset = list(scores_subset.values())
    elif isinstance(scores_subset, Mapping) or isinstance(scores_all, Mapping):
        raise ValueError("One set of scores is by name, the other by place. Pass both in the same form.")
    subset = np.asarray(scores_subset, float)
    everything = np.asarray(scores_all, float)
    if subset.shape != everything.shape or subset.ndim != 1 or not len(subset):
        raise ValueError(f"Bias compares one score an annotator; the shapes are {subset.shape} and {everything.shape}.")
    return float(np.abs(subset - everything).mean())


@dataclass(frozen=True)
class SubsetScores:
    """s_Theta(phi) of every subset of annotators.

    Attributes:
        annotators: their names, A of them.
        members: (2^A - 1, A), the annotators of each subset; smaller subsets first, the last is All.
        scores: (2^A - 1, A), the score of each annotator on each subset's pairs.
    """

    annotators: tuple[str, ...]
    members: Flags
    scores: Floats

    @property
    def sizes(self) -> NDArray[np.int64]:
        return self.members.sum(axis=1)

    def of(self, names: Sequence[str]) -> Floats:
        """Return the scores (A,) on the pairs of one subset. Raises ValueError for unknown annotators, or none."""
        wanted = np.isin(self.annotators, list(names))
        if wanted.sum() != len(set(names)) or not names:
            raise ValueError(f"Unknown subset of annotators {list(names)}: use one or more of {list(self.annotators)}.")
        return self.scores[(self.members == wanted).all(axis=1)][0]

    def distances(self, truth: ArrayLike | None = None) -> Floats:
        """Return |s_Theta(phi) - s(phi)|, (2^A - 1, A), with s of All (the default) or of ``truth`` (A,)."""
        return np.abs(self.scores - (self.scores[-1] if truth is None else np.asarray(truth, float)))


@dataclass(frozen=True)
class SizeBias:
    """Means over the ``subsets`` subsets of ``size`` annotators (a point of each line of figure E.2).

    ``non_self_bias`` is NaN for all annotators together.
    """

    size: int
    subsets: int
    bias: float
    self_bias: float
    non_self_bias: float


def subsets_of(n: int) -> Flags:
    """Return all non-empty subsets of ``n`` annotators as flags (2^n - 1, n), smaller ones first."""
    if not 1 <= n <= LARGEST:
        raise ValueError(f"The subsets of {n} annotators cannot be scored: use 1 to {LARGEST}.")
    flags = (np.arange(1, 2**n)[:, None] >> np.arange(n) & 1).astype(bool)
    order = np.lexsort([*(~flags[:, ::-1]).T, flags.sum(axis=1)])
    return flags[order]


def subset_scores(
    found: Mapping[str, Found], proposed: Flags, metric: Metric, *, without_positives: WithoutPositives = "zero"
) -> SubsetScores:
    """Score every annotator on the pairs of every subset.

    Args:
        found: annotator → the ranks of the E judged pairs in its rankings, the same pairs for all.
        proposed: (E, A), whether each annotator proposed the pair. A subset has the pairs that any of its own proposed.
        metric: gives a score per query, NaN for a query without matches.
        without_positives: as of ``mean_over_queries``. With "zero" a score means the same on every subset; "skip"
            averages over other queries on each.
    """
    members = subsets_of(len(found))
    if proposed.shape[1] != len(found):
        raise ValueError(f"Proposals of {proposed.shape[1]} annotators cannot be those of {len(found)}.")
    scores = np.empty(members.shape)
    for place, subset in enumerate(members):
        mask = np.asarray(proposed[:, subset].any(axis=1), bool)
        scores[place] = [
            mean_over_queries(metric(one.keep(mask)), without_positives=without_positives).value
            for one in found.values()
        ]
    return SubsetScores(tuple(found), members, scores)


def bias_by_size(scores: SubsetScores, truth: ArrayLike | None = None) -> list[SizeBias]:
    """Return bias, self-bias and non-self-bias averaged over the subsets of each size (figure E.2).

    ``truth`` (A,) measures the distance from known true scores in place of those on all annotators' pairs.
    """
    distance = scores.distances(truth)
    members = scores.members
    biases = distance.mean(axis=1)
    own = _mean_where(distance, members)
    other = _mean_where(distance, ~members)
    return [
        SizeBias(size, int(of.sum()), float(biases[of].mean()), float(own[of].mean()), float(other[of].mean()))
        for size in sorted(set(scores.sizes.tolist()))
        for of in [scores.sizes == size]
    ]


def _mean_where(distance: Floats, flags: Flags) -> Floats:
    """Return the mean of each row over its flagged annotators, NaN if there are none."""
    count = flags.sum(axis=1)
    return np.where(count, (distance * flags).sum(axis=1) / np.maximum(count, 1), np.nan)


@dataclass(frozen=True)
class LeftOut:
    """What would be missing from the judged pairs without one annotator.

    ``matches`` it proposed, ``unique`` ones by it alone; ``bias``: model bias of the others' pairs; ``before`` and
    ``after``: its own score with and without its proposals; ``rank_before`` and ``rank_after``: its rank by them among
    all annotators (1 = best).
    """

    annotator: str
    matches: int
    unique: int
    bias: float
    before: float
    after: float
    rank_before: int
    rank_after: int


def leave_one_out(scores: SubsetScores, proposed: Flags, is_match: Flags) -> list[LeftOut]:
    """Leave each annotator out in turn. ``proposed`` (E, A) and ``is_match`` (E,) are about the same judged pairs.

    Raises ValueError for a single annotator.
    """
    if len(scores.annotators) < 2:
        raise ValueError("Leaving one out needs two or more annotators.")
    everything = scores.scores[-1]
    sole = proposed.sum(axis=1) == 1
    left_out = []
    for place, name in enumerate(scores.annotators):
        without = scores.of([other for other in scores.annotators if other != name])
        left_out.append(
            LeftOut(
                annotator=name,
                matches=int((proposed[:, place] & is_match).sum()),
                unique=int((proposed[:, place] & is_match & sole).sum()),
                bias=model_bias(without, everything),
                before=float(everything[place]),
                after=float(without[place]),
                rank_before=int((everything > everything[place]).sum()) + 1,
                rank_after=int((without > without[place]).sum()) + 1,
            )
        )
    return left_out
