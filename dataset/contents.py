"""The contents of a release, in database ids: its queries, its positives and their sources, and its verdicts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.errors import CounterpartError
from corpus.models import Collection, Match, Sample
from dataset.aggregation import LEVELS, Ties, choose_levels
from dataset.merging import MergeTerm, Pair, merged_pairs
from dataset.models import Aggregation, Verdict
from dataset.verdicts import current_aggregation
from hits.models import Round

JUDGED = "judged"


@dataclass(frozen=True)
class Queries:
    """The images and captions whose positives are released. The gallery is always the whole collection."""

    images: frozenset[int]
    captions: frozenset[int]

    def touching(self, pairs: Iterable[Pair]) -> set[Pair]:
        """Return the pairs whose image or caption is a query."""
        return {(image, caption) for image, caption in pairs if image in self.images or caption in self.captions}

    def count(self, pairs: Iterable[Pair]) -> tuple[int, int]:
        """Return the number of pairs whose image is a query, and the number whose caption is one."""
        pairs = list(pairs)
        return sum(image in self.images for image, _ in pairs), sum(caption in self.captions for _, caption in pairs)


@dataclass(frozen=True)
class PooledVerdict:
    """The verdict on a pair over all released rounds: a level, the shares of levels 1-4, and the number of votes."""

    level: int
    shares: tuple[float, ...]
    votes: int


@dataclass(frozen=True)
class Contents:
    """``by_source`` and ``original`` list each source's pairs on the queries, before captions are excluded."""

    queries: Queries
    positives: frozenset[Pair]
    verdicts: Mapping[Pair, PooledVerdict]
    by_source: Mapping[str, set[Pair]]
    original: set[Pair]
    method: str | None
    ties: Ties | None

    @property
    def pairs(self) -> frozenset[Pair]:
        """Every positive or judged pair."""
        return self.positives | self.verdicts.keys()

    def sources_of(self, pair: Pair) -> list[str]:
        return [source for source, pairs in self.by_source.items() if pair in pairs]


def gather_contents(
    collection: Collection,
    *,
    sample: Sample,
    rounds: Sequence[Round],
    method: str,
    terms: Sequence[MergeTerm],
    positive_levels: Sequence[int],
    excluded: frozenset[int] = frozenset(),
) -> Contents:
    """Unite the rounds' positive verdicts by ``method`` with the pairs of the merge ``terms``, on the sample's queries.

    ``excluded`` holds database ids of captions that are dropped, as queries and as items. Raises CounterpartError
    if verdicts are missing or out of date, or if the rounds' policies for ties differ.
    """
    queries = Queries(
        frozenset(sample.images.values_list("pk", flat=True)),
        frozenset(sample.captions.values_list("pk", flat=True)) - excluded,
    )
    aggregations = [current_aggregation(round, method) for round in rounds]
    ties = _shared_ties(aggregations) if rounds else None
    pooled = pooled_verdicts(aggregations, ties=ties) if ties else {}
    verdicts = {pair: pooled[pair] for pair in queries.touching(pooled)}
    by_source = {}
    if rounds:
        by_source[JUDGED] = {pair for pair, verdict in verdicts.items() if verdict.level in positive_levels}
    for term in terms:
        by_source[str(term)] = queries.touching(merged_pairs(collection, term, positive_levels=positive_levels))
    positives = {pair for pairs in by_source.values() for pair in pairs if pair[1] not in excluded}
    original = merged_pairs(collection, MergeTerm(Match.ORIGINAL), positive_levels=positive_levels)
    return Contents(
        queries=queries,
        positives=frozenset(positives),
        verdicts={pair: verdict for pair, verdict in verdicts.items() if pair[1] not in excluded},
        by_source=by_source,
        original=queries.touching(original),
        method=method if rounds else None,
        ties=ties,
    )


def pooled_verdicts(aggregations: Sequence[Aggregation], *, ties: Ties) -> dict[Pair, PooledVerdict]:
    """Return one verdict per pair: of several rounds, the mean of their distributions, weighted by votes."""
    columns = ["image_id", "caption_id", "votes", "distribution"]
    rows: Any = Verdict.objects.filter(aggregation__in=aggregations).order_by().values_list(*columns)
    table = pd.DataFrame.from_records(list(rows), columns=columns)
    shares = pd.DataFrame(np.array(table["distribution"].tolist()).reshape(-1, len(LEVELS)), columns=list(LEVELS))
    weighted = shares.mul(table["votes"], axis=0)
    weighted["votes"] = table["votes"]
    pooled = weighted.groupby([table["image_id"], table["caption_id"]]).sum()
    distribution = pooled[list(LEVELS)].div(pooled["votes"], axis=0)
    levels = choose_levels(distribution, ties=ties)
    figures = zip(levels.tolist(), distribution.to_numpy().tolist(), pooled["votes"].astype(int).tolist(), strict=True)
    return {
        pair: PooledVerdict(level, tuple(row), votes)
        for pair, (level, row, votes) in zip(pooled.index.tolist(), figures, strict=True)
    }


def _shared_ties(aggregations: Sequence[Aggregation]) -> Ties:
    policies = {str(one.round): one.ties for one in aggregations}
    if len(set(policies.values())) > 1:
        listed = ", ".join(f"{name}: {ties}" for name, ties in policies.items())
        raise CounterpartError(f"The rounds use different policies for ties ({listed}). Aggregate them with the same.")
    ties: Any = next(iter(policies.values()))
    return ties
