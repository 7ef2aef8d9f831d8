"""Gather what a release will hold: which pairs are positive, by whom, and what people said of each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.errors import CounterpartError
from corpus.models import Collection, Match, Sample
from dataset.aggregation import LEVELS, Ties, choose_levels
from dataset.concluding import conclusion_of
from dataset.merging import MergeTerm, Pair, merged_pairs
from dataset.models import Verdict
from hits.models import Round

JUDGED = "judged"


@dataclass(frozen=True)
class Queries:
    """Database ids of the images and captions whose positives are wanted. Galleries are never subsampled."""

    images: frozenset[int]
    captions: frozenset[int]

    def touching(self, pairs: Iterable[Pair]) -> set[Pair]:
        """The pairs that answer a query of either side."""
        return {(image, caption) for image, caption in pairs if image in self.images or caption in self.captions}

    def count(self, pairs: Iterable[Pair]) -> tuple[int, int]:
        """How many of the pairs answer an image query, and how many a caption query."""
        pairs = list(pairs)
        return sum(image in self.images for image, _ in pairs), sum(caption in self.captions for _, caption in pairs)


@dataclass(frozen=True)
class Opinion:
    """What people concluded of a pair: a level, the shares of the levels 1-4, and the number of votes."""

    level: int
    shares: tuple[float, ...]
    votes: int


@dataclass(frozen=True)
class Harvest:
    """The content of a release before it is written, in database ids."""

    queries: Queries
    positives: frozenset[Pair]
    opinions: Mapping[Pair, Opinion]
    by_source: Mapping[str, set[Pair]]
    original: set[Pair]
    ties: Ties | None

    @property
    def pairs(self) -> frozenset[Pair]:
        """All that the release says something about."""
        return self.positives | self.opinions.keys()

    def sources_of(self, pair: Pair) -> list[str]:
        return [source for source, pairs in self.by_source.items() if pair in pairs]


def gather(
    collection: Collection,
    *,
    sample: Sample,
    rounds: Sequence[Round],
    terms: Sequence[MergeTerm],
    positive_levels: Sequence[int],
    excluded: frozenset[int] = frozenset(),
) -> Harvest:
    """Unite the positive verdicts of ``rounds`` with the pairs of the merge ``terms`` on the sample's queries.

    ``excluded`` holds database ids of captions that are dropped, as queries and as items. ``by_source`` and
    ``original`` keep each source as it came, on the remaining queries.
    """
    queries = Queries(
        frozenset(sample.images.values_list("pk", flat=True)),
        frozenset(sample.captions.values_list("pk", flat=True)) - excluded,
    )
    ties = ties_of(rounds) if rounds else None
    opinions = _on_queries(opinions_of(rounds, ties=ties), queries) if ties else {}
    by_source = {JUDGED: {pair for pair, said in opinions.items() if said.level in positive_levels}} if rounds else {}
    for term in terms:
        by_source[str(term)] = queries.touching(merged_pairs(collection, term, positive_levels=positive_levels))
    positives = {pair for pairs in by_source.values() for pair in pairs if pair[1] not in excluded}
    original = merged_pairs(collection, MergeTerm(Match.ORIGINAL), positive_levels=positive_levels)
    kept = {pair: said for pair, said in opinions.items() if pair[1] not in excluded}
    return Harvest(queries, frozenset(positives), kept, by_source, queries.touching(original), ties)


def opinions_of(rounds: Sequence[Round], *, ties: Ties) -> dict[Pair, Opinion]:
    """Return what the rounds' verdicts say of each pair; a pair of several rounds has all its votes in one vote."""
    columns = ["image_id", "caption_id", "votes", "distribution"]
    rows: Any = Verdict.objects.filter(round__in=rounds, method="majority").order_by().values_list(*columns)
    table = pd.DataFrame.from_records(list(rows), columns=columns)
    shares = pd.DataFrame(np.array(table["distribution"].tolist()).reshape(-1, len(LEVELS)), columns=list(LEVELS))
    weighted = shares.mul(table["votes"], axis=0)
    weighted["votes"] = table["votes"]
    pooled = weighted.groupby([table["image_id"], table["caption_id"]]).sum()
    distribution = pooled[list(LEVELS)].div(pooled["votes"], axis=0)
    levels = choose_levels(distribution, ties=ties)
    said = zip(levels.tolist(), distribution.to_numpy().tolist(), pooled["votes"].astype(int).tolist(), strict=True)
    return {
        pair: Opinion(level, tuple(row), votes)
        for pair, (level, row, votes) in zip(pooled.index.tolist(), said, strict=True)
    }


def ties_of(rounds: Sequence[Round]) -> Ties:
    """Return the one policy for ties that the rounds' verdicts follow. Raises CounterpartError if they differ."""
    policies = {str(round): conclusion_of(round)["ties"] for round in rounds}
    if len(set(policies.values())) > 1:
        told = ", ".join(f"{name}: {ties}" for name, ties in policies.items())
        raise CounterpartError(f"The rounds treat ties differently ({told}); aggregate them by one policy.")
    return next(iter(policies.values()))


def _on_queries(opinions: Mapping[Pair, Opinion], queries: Queries) -> dict[Pair, Opinion]:
    touching = queries.touching(opinions)
    return {pair: said for pair, said in opinions.items() if pair in touching}
