"""What machine judges bring to an audit's estimates: they are proxies, and never labels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from evaluation.auditing.whole_queries import WholeQueries
from evaluation.estimation import METRICS, Pilot, proxy_quality, width_ratio
from mitl.models import Annotator, Direction

Floats = NDArray[np.float64]
MACHINE_JUDGES = ("vlm",)
"""Kinds of annotators that answer the question that workers are asked."""


@dataclass(frozen=True)
class MachineJudge:
    """How well a machine judge's answers agree with the verdicts, and what an audit's estimates owe to them.

    Attributes:
        pairs: asked pairs of audited queries, and ``scored`` those of them that its lists hold.
        auc: how often a match has a greater score than a pair that is none, ties as half; NaN without both kinds.
        quality: ρ² of the metric with its proxy over audited queries, mean over the models, and ``without`` this
            annotator; NaN for the only annotator.
        width: of an interval by that of the round of all pairs, at this audit's share of the queries, mean over the
            models, and ``width_without``.
    """

    annotator: str
    kind: str
    direction: Direction
    metric: str
    pairs: int
    scored: int
    auc: float
    quality: float
    quality_without: float
    width: float
    width_without: float

    @property
    def share_of_gain(self) -> float:
        """The part of ρ² that goes with the annotator; negative where the proxy is better without it."""
        return (self.quality - self.quality_without) / self.quality if self.quality > 0 else float("nan")

    def row(self) -> dict[str, object]:
        """Return what ``estimate`` prints."""
        return {
            "annotator": self.annotator,
            "kind": self.kind,
            "direction": self.direction.value,
            "metric": self.metric,
            "pairs": self.pairs,
            "scored": self.scored,
            "auc": self.auc,
            "rho2": self.quality,
            "rho2_without": self.quality_without,
            "share_of_gain": self.share_of_gain,
            "width": self.width,
            "width_without": self.width_without,
        }


def machine_judges(whole: WholeQueries, metric: str) -> list[MachineJudge]:
    """Return the figures of the machine judges in an audit's pool in one direction; none where every query is judged,
    as nothing is estimated there. Each takes about as long as the estimates themselves."""
    names = whole.queries.models[: len(whole.queries.scores)]
    kinds = dict(Annotator.objects.filter(name__in=names).values_list("name", "kind"))
    wanted = [number for number, name in enumerate(names) if kinds[name] in MACHINE_JUDGES]
    if whole.audited.all() or not wanted:
        return []
    share = float(whole.audited.mean())
    audit = _audited_alone(whole)
    queries = audit.queries
    row = METRICS.index(metric)
    with_all = _quality(audit, ())[row]
    is_match = queries.gains[queries.asked] > 0
    found = []
    for number in wanted:
        name, scores = names[number], queries.scores[number]
        without = _quality(audit, (name,))[row] if len(names) > 1 else np.full(len(with_all), np.nan)
        asked = scores[queries.asked]
        found.append(
            MachineJudge(
                name,
                kinds[name],
                whole.direction,
                metric,
                pairs=len(asked),
                scored=int((~np.isnan(asked)).sum()),
                auc=area_under_curve(asked, is_match),
                quality=float(with_all.mean()),
                quality_without=float(without.mean()),
                width=float(width_ratio(share, 1, with_all).mean()),
                width_without=float(width_ratio(share, 1, without).mean()),
            )
        )
    return found


def area_under_curve(scores: Floats, is_match: NDArray[np.bool_]) -> float:
    """Return how often a match (n,) has a greater score (n,) than a pair that is none; ties count as half.

    Pairs without a score (NaN) are below all others, tied. NaN without both kinds of pairs.

    >>> area_under_curve(np.array([3.0, 1.0, 1.0, np.nan]), np.array([True, True, False, False]))
    0.875
    """
    positives = int(is_match.sum())
    negatives = len(is_match) - positives
    if not positives or not negatives:
        return float("nan")
    ranks = scipy.stats.rankdata(np.where(np.isnan(scores), -np.inf, scores))
    return float((ranks[is_match].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def _audited_alone(whole: WholeQueries) -> WholeQueries:
    """Return the audited queries: the others have no label to learn from or to compare with, and cost time."""
    rows, queries = whole.audited, whole.queries
    kept = replace(
        queries,
        ranks=queries.ranks[:, rows],
        scores=queries.scores[:, rows],
        levels=queries.levels[rows],
        known=queries.known[rows],
        codes=queries.codes[rows],
        keys=tuple(np.array(queries.keys)[rows].tolist()),
        images=queries.images[rows],
    )
    return replace(whole, queries=kept, place=whole.place[rows], opened=whole.opened[rows])


def _quality(audit: WholeQueries, without: Sequence[str]) -> Floats:
    """Return ρ² (K, M) over the audited queries, with the proxy of ``without`` these annotators."""
    _, proxy = audit.expectations_without(without)
    nothing = np.zeros(0)
    return proxy_quality(Pilot(audit.metrics, proxy, nothing, nothing, nothing, nothing))
