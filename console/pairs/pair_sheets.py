"""The page of one pair for reviewers: votes, reports, annotators, related pairs, reviews, versions."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q

from annotation.models import Assignment, Judgment, Report
from annotation.work.control_records import Tally, tallies_of
from annotation.work.judgments import answers_by, answers_on
from annotation.work.pair_status import PairStatus, status_of
from corpus.models import Caption, Image, Match
from dataset.judged.verdict_files import verdicts_on
from dataset.judged.verdict_worth import note_doubts
from dataset.models import Aggregation, Case, Review, Verdict, Version
from dataset.reviews.cases import group_of
from dataset.reviews.reviews import latest_review
from hits.models import Round
from hits.question import Level
from mitl.models import Proposal

MOST_RELATED = 12


@dataclass(frozen=True)
class VoteLine:
    """A judgment of the pair, and its worker's answers to controls."""

    judgment: Judgment
    controls: Tally

    @property
    def counts(self) -> bool:
        return self.judgment.assignment.state == Assignment.State.ACCEPTED


@dataclass
class Related:
    """Another pair with the same image or caption, and the matches that sources know of it."""

    image: Image
    caption: Caption
    matches: list[Match] = field(default_factory=list)


@dataclass(frozen=True)
class Entry:
    """The pair in a version: whether it is a match, and its level, None without a verdict."""

    version: Version
    is_positive: bool
    level: int | None


@dataclass(frozen=True)
class Concluded:
    """A review, and the level that held before it: of an earlier settled review, else of the newest verdict; None
    without either, and for a review of the image or the caption alone."""

    review: Review
    before: int | None

    @property
    def changed_from(self) -> str:
        """The words of the level that it changed; empty where it changed none."""
        if self.before is None or self.review.level in (None, self.before):
            return ""
        return Level(self.before).brief


def sheet_of(image: Image, caption: Caption) -> dict[str, Any]:
    """Return the context of a pair's page. The number of queries depends only on the number of rounds that ask about
    the pair."""
    group = group_of(image, caption)
    proposals = _proposals(image, caption)
    verdicts = _verdicts(image, caption)
    return {
        "image": image,
        "caption": caption,
        "collection": image.collection,
        "case": Case.objects.filter(image=image, caption=caption).first(),
        "votes": _votes(image, caption),
        "reports": Report.objects.filter(image=image, caption=caption).select_related(
            "worker", "assignment__hit__round"
        ),
        "verdicts": verdicts,
        "proposals": proposals,
        "statuses": _statuses(image, caption, {proposal.pool_id for proposal in proposals}),
        **_matches(image, caption),
        "reviews": _reviews(image, caption, verdicts),
        "group": group,
        "twins": _twins(group[1:]),
        "seen": latest_review([*group, (image.pk, None), (None, caption.pk)]),
    }


def _matches(image: Image, caption: Caption) -> dict[str, Any]:
    """Return the pair's matches with their entries, and what else the caption and the image match."""
    matches = list(Match.objects.filter(image=image, caption=caption).order_by("source"))
    return {
        "matches": matches,
        "entries": _entries(matches),
        "other_images": _related(Match.objects.filter(caption=caption).exclude(image=image)),
        "other_captions": _related(Match.objects.filter(image=image).exclude(caption=caption)),
    }


def _votes(image: Image, caption: Caption) -> list[VoteLine]:
    related = ("worker", "assignment__hit__round", "item__control")
    judgments = list(answers_on([image], [caption]).select_related(*related).order_by("pk"))
    tallies = tallies_of(answers_by([judgment.worker_id for judgment in judgments]))
    return [VoteLine(judgment, tallies.get(judgment.worker_id, Tally())) for judgment in judgments]


def _verdicts(image: Image, caption: Caption) -> list[Verdict]:
    made = Aggregation.objects.filter(round__pool__collection=image.collection_id).select_related("round")
    verdicts = verdicts_on(list(made.order_by("round__name", "method")), [image], [caption])
    note_doubts(verdicts)
    return verdicts


def _proposals(image: Image, caption: Caption) -> list[Proposal]:
    pools = list(image.collection.pools.values_list("pk", flat=True))  # proposals are indexed by pool
    rows = Proposal.objects.filter(pool__in=pools, image=image, caption=caption).select_related("annotator", "pool")
    return list(rows.order_by("annotator__name", "direction", "pool__name"))


def _statuses(image: Image, caption: Caption, pools: set[int]) -> list[tuple[Round, PairStatus]]:
    """Return the rounds of the pools that ask about the pair, with its status in each."""
    rounds = Round.objects.filter(pool__in=pools).order_by("pk")
    statuses = [(one, status_of(one, image.pk, caption.pk)) for one in rounds]
    return [(one, status) for one, status in statuses if status]


def _related(matches: Any) -> list[Related]:
    """Collect matches by pair, those of most sources first; at most MOST_RELATED pairs."""
    by_pair: dict[tuple[int, int], Related] = {}
    for match in matches.select_related("image", "caption").order_by("source", "pk")[:200]:
        pair = (match.image_id, match.caption_id)
        by_pair.setdefault(pair, Related(match.image, match.caption)).matches.append(match)
    return sorted(by_pair.values(), key=lambda one: -len(one.matches))[:MOST_RELATED]


def _entries(matches: Iterable[Match]) -> list[Entry]:
    by_source = {match.source: match for match in matches}
    versions = Version.objects.filter(name__in=by_source).order_by("-released_at")
    return [
        Entry(version, by_source[version.name].score == 1, by_source[version.name].grade)
        for version in versions
        if version.collection_id == by_source[version.name].collection_id
    ]


def _reviews(image: Image, caption: Caption, verdicts: list[Verdict]) -> list[Concluded]:
    """Return the reviews of the pair, its image and its caption, newest first."""
    about = Q(image=image, caption=caption) | Q(image=image, caption=None) | Q(image=None, caption=caption)
    voted = max(verdicts, key=lambda verdict: verdict.aggregation.at).level if verdicts else None
    reviews = []
    before = voted
    for review in Review.objects.filter(about).select_related("by", "seconded_by", "undoes").order_by("pk"):
        of_pair = None not in review.subject
        reviews.append(Concluded(review, before if of_pair else None))
        if of_pair and review.is_settled:
            before = review.level or voted
    return reviews[::-1]


def _twins(group: list[tuple[int, int]]) -> list[Related]:
    images = Image.objects.in_bulk([image for image, _ in group])
    captions = Caption.objects.in_bulk([caption for _, caption in group])
    return [Related(images[image], captions[caption]) for image, caption in group]
