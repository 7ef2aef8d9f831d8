"""Changes between two versions: the pairs that differ, each with the one main cause."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import TextChoices

from core.errors import CounterpartError
from dataset.models import Version
from dataset.versions.contents import JUDGED, Policies, Queries, queries_of
from dataset.versions.file_rows import AUTOMATIC, ReleasedJudgment, ReleasedPair, pair_order
from dataset.versions.merging import Pair
from dataset.versions.version_files import FORM, JUDGMENTS, load_judgments, load_pairs

AnswerSet = tuple[str, int, int]
"""Round, HIT and answer set."""


class Cause(TextChoices):
    """Why a pair differs. Of several causes the first that applies, in the order of ``_cause``, is the main one."""

    SAMPLE = "sample", "only one version has its image or caption as a query"
    CLEAN_UP = "clean-up", "its image or caption was excluded from one version"
    REVIEW = "review", "a reviewer gave it a level, or took one back"
    ROUND_ADDED = "round added", "a round with votes on it is in the second version only"
    ROUND_LEFT_OUT = "round left out", "a round with votes on it is in the first version only"
    NEW_VOTE = "new vote", "votes on it were added to a round that both versions have"
    WORKER_EXCLUDED = "worker excluded", "votes on it were excluded, or count again"
    CONTROL_RETIRED = "control retired", "votes on it count since a control was retired, or no longer"
    AGGREGATION = (
        "aggregation",
        "the same votes give another level: another method or policy for ties, or its workers are known better",
    )
    THRESHOLD = "threshold", "other levels are positive, or a merged source has another threshold"
    AUTOMATIC = "automatic rejection", "it was rejected by its probability, without a judgment, in one version only"
    MERGE = "merge", "a source was merged into one version only, or with another precedence"


@dataclass(frozen=True)
class Change:
    """A pair that differs: what each version says of it, None if it does not have the pair."""

    image: str
    caption: str
    before: ReleasedPair | None
    after: ReleasedPair | None
    cause: Cause


@dataclass(frozen=True)
class Released:
    """What a version says, read from its checked files."""

    version: Version

    @cached_property
    def queries(self) -> Queries:
        return queries_of(self.version.sample)

    @cached_property
    def pairs(self) -> Mapping[Pair, ReleasedPair]:
        return {(row.image, row.caption): row for row in load_pairs(self.version)}

    @cached_property
    def policies(self) -> Policies:
        return Policies.from_json(self.version.manifest["policies"])

    @cached_property
    def rounds(self) -> frozenset[str]:
        return frozenset(round["name"] for round in self.version.manifest["rounds"])

    @cached_property
    def votes(self) -> Mapping[Pair, Mapping[AnswerSet, ReleasedJudgment]]:
        """The judgments on each candidate pair, counted or not."""
        votes: dict[Pair, dict[AnswerSet, ReleasedJudgment]] = defaultdict(dict)
        for row in self._judgments:
            if not row.control:
                votes[row.image, row.caption][row.round, row.hit, row.assignment] = row
        return votes

    @cached_property
    def retired(self) -> frozenset[AnswerSet]:
        """The answer sets with an answer to a control that was retired."""
        return frozenset((row.round, row.hit, row.assignment) for row in self._judgments if row.control_retired)

    @cached_property
    def _judgments(self) -> list[ReleasedJudgment]:
        return list(load_judgments(self.version)) if JUDGMENTS in self.version.manifest["files"] else []

    def excludes(self, pair: Pair) -> bool:
        manifest = self.version.manifest
        return pair[0] in manifest["excluded_images"] or pair[1] in manifest["excluded_captions"]

    def asks(self, pair: Pair) -> bool:
        return pair[0] in self.queries.images or pair[1] in self.queries.captions


def designs_of(version: Version) -> dict[str, dict[str, Any]]:
    """Return the design and the seed of each round that asks a part of its pool, by the round's name; of a turn, which
    it is and the version that it goes beyond."""
    return {
        one["name"]: one["judge"]
        | {"seed": one["seed"]}
        | {name: one["pool"][name] for name in ("turn", "beyond") if name in one["pool"]}
        for one in version.manifest["rounds"]
        if "judge" in one
    }


def changes_between(before: Version, after: Version) -> Iterator[Change]:
    """Yield every pair that is positive, judged or of a level in one version and not so in the other, in file order.

    Raises CounterpartError for versions of different collections, or of an earlier program.
    """
    if before.collection_id != after.collection_id:
        raise CounterpartError(
            f"{before} is a version of {before.collection}, {after} of {after.collection}. Compare versions of one."
        )
    for version in (before, after):
        if version.manifest.get("form") != FORM:
            raise CounterpartError(f"Version {version} was released by an earlier program and cannot be compared.")
    a = Released(before)
    b = Released(after)
    for pair in sorted(a.pairs.keys() | b.pairs.keys(), key=pair_order):
        one = a.pairs.get(pair)
        other = b.pairs.get(pair)
        if _outcome(one) != _outcome(other):
            yield Change(*pair, one, other, _cause(pair, a, b))


def _outcome(row: ReleasedPair | None) -> tuple[int, str] | None:
    return (row.positive, row.level) if row else None


def _cause(pair: Pair, a: Released, b: Released) -> Cause:
    if a.asks(pair) != b.asks(pair):
        return Cause.SAMPLE
    if a.excludes(pair) != b.excludes(pair):
        return Cause.CLEAN_UP
    before = a.pairs.get(pair)
    after = b.pairs.get(pair)
    if _level(before) == _level(after):
        return _cause_of_policy(pair, a, b)
    if (before.review if before else "") != (after.review if after else ""):
        return Cause.REVIEW
    return _cause_of_votes(pair, a, b) or Cause.AGGREGATION


def _level(row: ReleasedPair | None) -> str:
    return row.level if row else ""


def _cause_of_votes(pair: Pair, a: Released, b: Released) -> Cause | None:
    """Return the cause of most votes that only one version counts; None if both count the same."""
    causes: Counter[Cause] = Counter()
    before = a.votes.get(pair, {})
    after = b.votes.get(pair, {})
    for answers in before.keys() | after.keys():
        old = before.get(answers)
        new = after.get(answers)
        if (old.counted if old else 0) == (new.counted if new else 0):
            continue
        if answers[0] not in a.rounds:
            causes[Cause.ROUND_ADDED] += 1
        elif answers[0] not in b.rounds:
            causes[Cause.ROUND_LEFT_OUT] += 1
        elif old is None or new is None:
            causes[Cause.NEW_VOTE] += 1
        elif (answers in a.retired) != (answers in b.retired):
            causes[Cause.CONTROL_RETIRED] += 1
        else:
            causes[Cause.WORKER_EXCLUDED] += 1
    return max(Cause, key=lambda cause: causes[cause]) if causes else None


def _cause_of_policy(pair: Pair, a: Released, b: Released) -> Cause:
    """Return why a pair of the same level, or without one, is a match in one version only."""
    if AUTOMATIC in _sources(a.pairs.get(pair)) ^ _sources(b.pairs.get(pair)):
        return Cause.AUTOMATIC
    level = _level(a.pairs.get(pair) or b.pairs.get(pair))
    if level and len({int(level) in one.policies.positive_levels for one in (a, b)}) > 1:
        return Cause.THRESHOLD
    merged = [{term.source: str(term) for term in one.policies.merge} for one in (a, b)]
    for source in _sources(a.pairs.get(pair)) ^ _sources(b.pairs.get(pair)):
        name = next((name for terms in merged for name, term in terms.items() if term == source), None)
        if name and all(name in terms for terms in merged):
            return Cause.THRESHOLD
    return Cause.MERGE


def _sources(row: ReleasedPair | None) -> set[str]:
    return set(row.sources.split(";")) - {JUDGED, ""} if row else set()


def count_causes(changes: list[Change]) -> dict[str, int]:
    """Return the number of changed pairs of each cause, the most frequent first."""
    return {cause.value: count for cause, count in Counter(change.cause for change in changes).most_common()}
