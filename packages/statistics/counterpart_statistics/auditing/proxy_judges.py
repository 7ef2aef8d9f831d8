"""How much machine judges improve an audit's estimates: they are proxies, and never labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from counterpart_statistics.estimation import METRICS, Pilot, proxy_quality, width_ratio
from counterpart_statistics.following import separation
from counterpart_statistics.selection.pooled_queries import Floats, WholeQueries


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
    direction: str
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
        """Return it as a table has it."""
        return {
            "annotator": self.annotator,
            "kind": self.kind,
            "direction": str(self.direction),
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


def judges_among(whole: WholeQueries, metric: str, kinds: Mapping[str, str]) -> list[MachineJudge]:
    """Return the figures of the machine judges in an audit's pool in one direction, which ``kinds`` names; none where
    every query is judged, as nothing is estimated there. Each takes about as long as the estimates themselves."""
    names = whole.queries.models[: len(whole.queries.scores)]
    wanted = [number for number, name in enumerate(names) if name in kinds]
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
        name = names[number]
        scores = queries.scores[number]
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
                auc=float(separation(np.nan_to_num(asked, nan=-np.inf), is_match[None])[0]),
                quality=float(with_all.mean()),
                quality_without=float(without.mean()),
                width=float(width_ratio(share, 1, with_all).mean()),
                width_without=float(width_ratio(share, 1, without).mean()),
            )
        )
    return found


def _audited_alone(whole: WholeQueries) -> WholeQueries:
    """Return the audited queries: the others have no label to learn from or to compare with, and cost time."""
    rows = whole.audited
    queries = whole.queries
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
