"""The contents of a release, in the collection's own ids: queries, positives and their sources, verdicts."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, get_args

import pandas as pd

from corpus.models import Collection, Match, Sample
from counterpart_statistics.aggregation import Method, Ties, full_conclusion, shows_percentage
from dataset.versions.file_rows import AUTOMATIC, PairVerdict
from dataset.versions.merging import MergeTerm, Pair, merged_pairs, parse_merge
from dataset.versions.rejections import Rejections, counted_rejections
from dataset.versions.review_rows import Reviewed, random_prefix
from hits.models import Round
from mitl.models import Proposal

JUDGED = "judged"
Precedence = Literal["union", "judged"]
PRECEDENCES: tuple[Precedence, ...] = get_args(Precedence)


@dataclass(frozen=True)
class Policies:
    """How judgments, reviews and match sources become positives.

    ``positive_levels`` are a match. Where the verdict on a pair and a merged source disagree, ``precedence`` says who
    is right: with ``union`` any source makes a positive, as in ECCV Caption, with ``judged`` the verdict holds.
    ``seed`` draws the random starts of aggregation methods that have any.
    """

    merge: tuple[MergeTerm, ...] = ()
    positive_levels: tuple[int, ...] = (1, 2)
    method: Method = "majority"
    ties: Ties = "median"
    precedence: Precedence = "union"
    seed: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            **vars(self),
            "merge": ",".join(map(str, self.merge)),
            "positive_levels": list(self.positive_levels),
        }

    @classmethod
    def from_json(cls, policies: Mapping[str, Any]) -> "Policies":
        merge = tuple(parse_merge(policies["merge"]))
        return cls(**{**policies, "merge": merge, "positive_levels": tuple(policies["positive_levels"])})


@dataclass(frozen=True)
class Queries:
    """The images and captions whose positives are released. The gallery is always that of the whole collection."""

    images: frozenset[str]
    captions: frozenset[str]

    def touching(self, pairs: Iterable[Pair]) -> set[Pair]:
        """Return the pairs whose image or caption is a query."""
        return {(image, caption) for image, caption in pairs if image in self.images or caption in self.captions}

    def count(self, pairs: Iterable[Pair]) -> tuple[int, int]:
        """Return the number of pairs whose image is a query, and the number whose caption is one."""
        pairs = list(pairs)
        return sum(image in self.images for image, _ in pairs), sum(caption in self.captions for _, caption in pairs)


@dataclass(frozen=True)
class Contents:
    """``by_source`` and ``original`` list each source's pairs on the queries, before anything is excluded. Pairs that
    are ``automatic`` were rejected by their probability, without a judgment. ``certainty``: the figures of
    the model that gave the verdicts' probabilities; None without votes, and where they were not asked for."""

    queries: Queries
    positives: frozenset[Pair]
    verdicts: Mapping[Pair, PairVerdict]
    by_source: Mapping[str, set[Pair]]
    original: set[Pair]
    conflicts: frozenset[Pair] = field(default=frozenset())
    automatic: frozenset[Pair] = field(default=frozenset())
    certainty: Mapping[str, Any] | None = None

    @property
    def pairs(self) -> frozenset[Pair]:
        """Every positive or judged pair."""
        return self.positives | self.verdicts.keys()

    def sources_of(self, pair: Pair) -> list[str]:
        if pair in self.automatic:
            return [AUTOMATIC]
        return [source for source, pairs in self.by_source.items() if pair in pairs]


def queries_of(sample: Sample) -> Queries:
    images, captions = (frozenset(side.values_list("key", flat=True)) for side in (sample.images, sample.captions))
    return Queries(images, captions)


def gather_contents(
    collection: Collection,
    *,
    queries: Queries,
    votes: pd.DataFrame | None,
    reviewed: Reviewed,
    policies: Policies,
    rounds: Sequence[Round] = (),
    captions: Container[str] | None = None,
    rejections: Sequence[Rejections] = (),
    controls: pd.DataFrame | None = None,
    seeds: Mapping[str, int] = MappingProxyType({}),
) -> Contents:
    """Unite the positive verdicts on ``votes`` and reviews with the pairs of the merged sources, on the queries.

    ``votes`` (``dataset.judged``) is None for a release without rounds. Captions and images that reviewers excluded
    are dropped, as queries and as items. ``conflicts`` are pairs that are no match by their verdict
    and one by a merged source. ``captions`` are the keys of a release's own: matches of captions that were added later
    are left out. ``controls``: the answers to controls of all submitted sets, on which the probabilities of verdicts
    rest; None without these. ``seeds``: of the rounds by name, which draw the verdicts that reviewers check.
    """

    def pairs_of(term: MergeTerm) -> set[Pair]:
        merged = merged_pairs(collection, term, positive_levels=policies.positive_levels)
        return queries.touching(pair for pair in merged if captions is None or pair[1] in captions)

    found: dict[Pair, PairVerdict] = {}
    certainty = None
    if votes is not None:
        more = {} if controls is None else _certain(votes, queries, reviewed, seeds)
        proposals = proposals_of(rounds) if policies.method == "consensus" else None
        found, certainty = verdicts_on(votes, policies=policies, proposals=proposals, answers=controls, **more)
    found |= {pair: _reviewed(found.get(pair), level) for pair, level in reviewed.levels.items()}
    verdicts = {pair: found[pair] for pair in queries.touching(found)}
    by_source = {}
    if votes is not None or verdicts:
        by_source[JUDGED] = {pair for pair, one in verdicts.items() if one.level in policies.positive_levels}
    by_source |= {str(term): pairs_of(term) for term in policies.merge}
    positives = {pair for pairs in by_source.values() for pair in pairs}
    conflicts = (positives & verdicts.keys()) - by_source.get(JUDGED, set())
    automatic = queries.touching(counted_rejections(rejections, found, policies.positive_levels)) - positives
    if policies.precedence == "judged":
        positives -= conflicts
    return Contents(
        queries=Queries(queries.images - reviewed.images, queries.captions - reviewed.captions),
        positives=frozenset(filter(reviewed.keeps, positives)),
        verdicts={pair: verdict for pair, verdict in verdicts.items() if reviewed.keeps(pair)},
        by_source=by_source,
        original=pairs_of(MergeTerm(Match.ORIGINAL)),
        conflicts=frozenset(filter(reviewed.keeps, conflicts)),
        automatic=frozenset(filter(reviewed.keeps, automatic)),
        certainty=certainty,
    )


def _certain(votes: pd.DataFrame, queries: Queries, reviewed: Reviewed, seeds: Mapping[str, int]) -> dict[str, Any]:
    """Return the pairs whose verdicts by votes are released, and which of those reviewed at random match."""
    candidates = votes[votes["control"] == ""].drop_duplicates(["round", "image", "caption"])
    pairs = queries.touching(zip(candidates["image"], candidates["caption"], strict=True))
    at_random: dict[Pair, bool] = {}
    for name, part in candidates.groupby("round"):
        at_random |= random_prefix([(part["image"].tolist(), part["caption"].tolist())], seeds[str(name)], reviewed)
    kept = {pair for pair in pairs if reviewed.keeps(pair) and pair not in reviewed.levels}
    return {"kept": kept, "reviewed": at_random}


def verdicts_on(
    votes: pd.DataFrame, *, policies: Policies, proposals: pd.DataFrame | None = None, **certain: Any
) -> tuple[dict[Pair, PairVerdict], Mapping[str, Any] | None]:
    """Return one verdict per candidate pair, from the votes of all rounds together, and their certainty if ``answers``
    to controls are given; ``certain`` as of ``full_conclusion``."""
    found = full_conclusion(
        votes, method=policies.method, ties=policies.ties, proposals=proposals, seed=policies.seed, **certain
    )
    table = found.verdicts
    figures = found.certainty.figures if found.certainty else None
    simulated = votes[votes["control"] == ""].groupby(["image", "caption"])["simulated"].sum()
    shares = table[["share_1", "share_2", "share_3", "share_4"]].to_numpy(float).tolist()
    probabilities = table["probability"].tolist() if figures else [None] * len(table)
    rows = zip(
        *(table[name] for name in ("image", "caption", "level")), shares, table["votes"], probabilities, strict=True
    )
    verdicts = {
        (image, caption): PairVerdict(
            int(level),
            tuple(share),
            int(count),
            int(simulated[image, caption]),
            probability=probability if shows_percentage(figures, count) else None,
        )
        for image, caption, level, share, count, probability in rows
    }
    return verdicts, figures


def graded_pairs(contents: Contents, positive_levels: Sequence[int]) -> dict[Pair, tuple[float, int | None]]:
    """Return the score (1 or 0) and the grade of every positive and every judged negative, as matches hold them.

    The grade is the verdict's level; None where only a source has the pair or the verdict disagrees.
    """
    graded: dict[Pair, tuple[float, int | None]] = {}
    for pair in contents.pairs:
        positive = pair in contents.positives
        verdict = contents.verdicts.get(pair)
        if verdict is None or positive == (verdict.level in positive_levels):
            graded[pair] = (float(positive), verdict.level if verdict else None)
        elif positive:
            graded[pair] = (1.0, None)
    return graded


def proposals_of(rounds: Sequence[Round]) -> pd.DataFrame:
    """Return what the annotators proposed for the rounds, for ``counterpart_statistics.aggregation.conclude``."""
    columns = {
        "image__key": "image",
        "caption__key": "caption",
        "annotator__name": "annotator",
        **{name: name for name in ("direction", "rank", "score")},
    }
    rows = Proposal.objects.filter(pool__rounds__in=rounds).distinct().order_by("pk").values_list(*columns)
    return pd.DataFrame.from_records(list(rows.iterator(chunk_size=20_000)), columns=list(columns.values()))


def _reviewed(verdict: PairVerdict | None, level: int) -> PairVerdict:
    if verdict is None:
        return PairVerdict(level, review=level)
    return PairVerdict(level, verdict.shares, verdict.votes, verdict.simulated, review=level)
