"""The page of one pair for reviewers: votes, reports, annotators, related pairs, reviews, versions."""

from collections import Counter
from typing import Any

from django.db.models import Q, QuerySet

from annotation.models import Judgment
from annotation.work.control_records import Tally, tallies_of
from annotation.work.judgments import answers_by, answers_on
from annotation.work.pair_status import PairStatus, status_of
from console.pairs.pair_lines import Line, Pair, lines_of
from console.pairs.pair_scopes import PairScope
from corpus.models import Caption, Image, Match
from dataset.models import Case, Review
from dataset.reviews.cases import group_of
from dataset.reviews.reviews import latest_review
from hits.models import Round

MOST_RELATED = 12


def sheet_of(image: Image, caption: Caption) -> dict[str, Any]:
    """Return the context of a pair's page. The number of queries depends only on the number of rounds that ask about
    the pair."""
    pair = (image.pk, caption.pk)
    group = group_of(image, caption)
    other_images = _related(Match.objects.filter(caption=caption).exclude(image=image))
    other_captions = _related(Match.objects.filter(image=image).exclude(caption=caption))
    lines = lines_of(PairScope(image.collection), {pair, *group, *other_images, *other_captions})
    by_pair = {(line.image.pk, line.caption.pk): line for line in lines}
    line = by_pair[pair]
    return {
        "image": image,
        "caption": caption,
        "collection": image.collection,
        "line": line,
        "case": Case.objects.filter(image=image, caption=caption).first(),
        "votes": _votes(image, caption),
        "statuses": _statuses(image, caption, {proposal.pool_id for proposal in line.proposals}),
        "versions": set(image.collection.versions.values_list("name", flat=True)),
        "reviews": _reviews(image, caption, line),
        "other_images": [by_pair[other] for other in other_images],
        "other_captions": [by_pair[other] for other in other_captions],
        "group": group,
        "twins": [by_pair[twin] for twin in group[1:]],
        "seen": latest_review([*group, (image.pk, None), (None, caption.pk)]),
    }


def _votes(image: Image, caption: Caption) -> list[tuple[Judgment, Tally]]:
    """Return the judgments of the pair, each with its worker's answers to controls."""
    related = ("worker", "assignment__hit__round", "item__control")
    judgments = list(answers_on([image], [caption]).select_related(*related).order_by("pk"))
    tallies = tallies_of(answers_by([judgment.worker_id for judgment in judgments]))
    return [(judgment, tallies.get(judgment.worker_id, Tally())) for judgment in judgments]


def _statuses(image: Image, caption: Caption, pools: set[int]) -> list[tuple[Round, PairStatus]]:
    """Return the rounds of the pools that ask about the pair, with its status in each."""
    rounds = Round.objects.filter(pool__in=pools).order_by("pk")
    statuses = [(one, status_of(one, image.pk, caption.pk)) for one in rounds]
    return [(one, status) for one, status in statuses if status]


def _related(matches: QuerySet[Match]) -> list[Pair]:
    """Return the pairs of the matches, those of most sources first; at most MOST_RELATED pairs."""
    found = matches.order_by("source", "pk").values_list("image_id", "caption_id")[:200]
    return [pair for pair, _ in Counter(found).most_common(MOST_RELATED)]


def _reviews(image: Image, caption: Caption, line: Line) -> list[tuple[Review, int | None]]:
    """Return the reviews of the pair, its image and its caption, newest first, each with the level that it replaced: of
    an earlier settled review, else of the newest verdict; None for a review of the image or the caption alone."""
    about = Q(image=image, caption=caption) | Q(image=image, caption=None) | Q(image=None, caption=caption)
    voted = max(line.verdicts, key=lambda verdict: verdict.aggregation.at).level if line.verdicts else None
    reviews = []
    before = voted
    for review in Review.objects.filter(about).select_related("by", "seconded_by", "undoes").order_by("pk"):
        of_pair = None not in review.subject
        reviews.append((review, before if of_pair else None))
        if of_pair and review.is_settled:
            before = review.level or voted
    return reviews[::-1]
