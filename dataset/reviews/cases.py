"""The queue of reviewers: which pairs wait for a person, and why; and the pairs that one decision may settle.

A refresh computes the queue from the votes and the known matches, and is safe to repeat: a case keeps its row, a case
without a reason leaves, and one that a review has settled stays settled. ``check_queue`` compares the queue with the
votes.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q

from annotation.models import Report
from annotation.work.judgments import BY_LEVEL, answers_on, answers_over
from core import clock
from core.events import record
from corpus.models import Caption, Collection, Image, Match
from corpus.pictures.looks import alike
from counterpart_annotators.words import words_of
from dataset.judged.verdict_files import add_rows_under_review
from dataset.models import Case, CaseQuerySet, QueueCheck, Review
from hits.models import Item, Round
from hits.question import Level

Pair = tuple[int, int]
"""Database ids of an image and a caption."""

WEIGHTS: Mapping[str, int] = {
    Case.Reason.CONFLICT: 40,
    Case.Reason.SUSPICIOUS: 30,
    Case.Reason.MEANINGLESS: 25,
    Case.Reason.DISAGREEMENT: 20,
    Case.Reason.REPORTED: 15,
    Case.Reason.DUPLICATE: 10,
}
"""What each reason adds to the priority of a case; ``reported`` for each worker who reports the pair."""
_BATCH = 2_000
_ARTICLES = frozenset({"a", "an", "the"})
MOST_ALIKE = 100


def queue_of(collection: Collection, reason: str = "") -> CaseQuerySet:
    """Return the cases of the collection that wait, most urgent first; with ``reason`` those that have it."""
    waiting = Case.objects.filter(collection=collection).waiting()
    return waiting.filter(reasons__has_key=reason) if reason else waiting


def counts_of(collection: Collection) -> dict[str, int]:
    """Return the number of waiting cases: of each reason, and ``waiting`` in all."""
    by_reason = {reason: Count("pk", filter=Q(reasons__has_key=reason)) for reason in Case.Reason.values}
    return queue_of(collection).order_by().aggregate(waiting=Count("pk"), **by_reason)


def refresh_queue(collection: Collection) -> dict[str, int]:
    """Bring disagreements, suspicious originals and workers' reports up to date; return the counts of the queue."""
    open_cases(collection, Case.Reason.DISAGREEMENT, disagreements(collection))
    open_cases(collection, Case.Reason.REPORTED, reported_pairs(collection))
    open_cases(collection, Case.Reason.SUSPICIOUS, suspicious_originals(collection))
    return counts_of(collection)


def disagreements(collection: Collection) -> dict[Pair, str]:
    """Return the candidate pairs of whose counted votes no level has more than half, with the votes."""
    counted = answers_over(collection).counted().of_candidates().filter(image__isnull=False, caption__isnull=False)
    pairs = counted.values_list("image_id", "caption_id").annotate(votes=Count("pk"), **BY_LEVEL)
    no_majority = Q(**{f"{n}__lte": F("votes") / 2.0 for n in BY_LEVEL})  # a tie of yes and no has none
    return {
        (image, caption): f"votes {', '.join(str(level) for level, n in enumerate(given, 1) for _ in range(n))}"
        for image, caption, _votes, *given in pairs.filter(no_majority, votes__gt=1)
    }


def suspicious_originals(collection: Collection) -> dict[Pair, str]:
    """Return the original pairs that half of the counted votes or more call 100% NO, as candidates or controls, and
    those that CxC scores below the collection's threshold, with what was found."""
    original = Match.objects.filter(
        collection=collection, source=Match.ORIGINAL, image=OuterRef("image"), caption=OuterRef("caption")
    )
    scored = Match.objects.filter(Exists(original), collection=collection, source="cxc")
    low = scored.filter(score__lt=collection.doubted_below)
    found = {
        (image, caption): f"cxc {score:g}"
        for image, caption, score in low.order_by("pk").values_list("image_id", "caption_id", "score")
    }
    counted = answers_over(collection).counted()
    refused = Count("pk", filter=Q(level=Level.NO))
    pairs = counted.values_list("image_id", "caption_id").annotate(votes=Count("pk"), refused=refused)
    for image, caption, votes, n in pairs.filter(Exists(original), refused__gte=F("votes") / 2.0, refused__gt=0):
        note = f"{n} of {votes} answers, those on controls included, say 100% NO"
        found[image, caption] = "; ".join(filter(None, [found.get((image, caption)), note]))
    return found


def reported_pairs(collection: Collection) -> dict[Pair, str]:
    """Return the pairs, candidates or controls, with which workers report a problem, with what they say is wrong."""
    reports = Report.objects.filter(image__collection=collection, caption__isnull=False).order_by()
    workers = Count("worker", distinct=True)
    by_problem = reports.values_list("image_id", "caption_id", "problem").annotate(n=workers)
    found: dict[Pair, list[str]] = defaultdict(list)
    for image, caption, problem, n in by_problem.order_by("-n", "problem"):
        found[image, caption].append(f"{Report.Problem(problem).label} ({n})")
    return {pair: "; ".join(said) for pair, said in found.items()}


def open_cases(collection: Collection, reason: str, found: Mapping[Pair, str], *, replace: bool = True) -> int:
    """Write what was ``found`` for one reason, with its notes, into the queue; return the number of new cases.

    Pairs that were reviewed without a case, or whose caption or image is excluded, get none. With ``replace``, waiting
    cases that are not in ``found`` lose the reason, and leave if it was their last.
    """
    opened = _open(collection, reason, found, replace=replace)
    add_rows_under_review(collection)
    return opened


@transaction.atomic
def _open(collection: Collection, reason: str, found: Mapping[Pair, str], *, replace: bool) -> int:
    Collection.objects.select_for_update().get(pk=collection.pk)
    known = {(case.image_id, case.caption_id): case for case in Case.objects.filter(collection=collection)}
    reviewed = Review.objects.holding(collection)
    reports = Report.objects.filter(image__collection=collection).order_by().values_list("image_id", "caption_id")
    workers = reports.annotate(n=Count("worker", distinct=True))
    reporters = {(image, caption): n for image, caption, n in workers}
    new: list[Case] = []
    changed: list[Case] = []
    gone: list[int] = []
    for pair, note in found.items():
        case = known.get(pair)
        if case is None:
            if pair not in reviewed and not _is_excluded(pair, reviewed):
                case = Case(collection=collection, image_id=pair[0], caption_id=pair[1])
                new.append(_with(case, {reason: note}, reporters))
        elif case.done_at is None and case.reasons.get(reason) != note:
            changed.append(_with(case, case.reasons | {reason: note}, reporters))
    passed = known.keys() - found.keys() if replace else set()
    for case in (known[pair] for pair in passed):
        if reason in case.reasons and case.done_at is None:
            rest = {one: note for one, note in case.reasons.items() if one != reason}
            if rest:
                changed.append(_with(case, rest, reporters))
            else:
                gone.append(case.pk)
    Case.objects.bulk_create(new, batch_size=_BATCH)
    Case.objects.bulk_update(changed, ["reasons", "priority"], batch_size=_BATCH)
    Case.objects.filter(pk__in=gone, done_at=None).delete()
    return len(new)


def update_queue(round: Round) -> int:
    """Refresh and check the queue of the round's collection; return the number of cases. A page shows failures."""
    waiting = refresh_queue(round.pool.collection)["waiting"]
    check_queue(round)
    return waiting


def check_queue(round: Round) -> bool:
    """Whether no disagreement of the round is hidden from reviewers; the outcome is stored (``QueueCheck``). To be
    called after a refresh. False means that the queue cannot be trusted."""
    shown = not hidden_disagreements(round)
    with transaction.atomic():
        QueueCheck.objects.update_or_create(round=round, defaults={"shown": shown, "at": clock.now()})
        record("queue checked", round, actor="queue check", shown=shown)
    return shown


def hidden_disagreements(round: Round) -> set[Pair]:
    """Return the pairs of the round without a majority that are neither in the queue, nor reviewed, nor excluded.

    Counts the votes here, vote by vote, as a second witness of ``disagreements``, whose sums the database makes.
    """
    collection = round.pool.collection
    counted = answers_over(collection).counted().of_candidates().filter(image__isnull=False, caption__isnull=False)
    votes = counted.order_by("image_id", "caption_id").values_list("image_id", "caption_id", "level")
    by_pair = groupby(votes.iterator(chunk_size=20_000), key=itemgetter(0, 1))  # a pair in memory at a time
    disputed = {pair for pair, given in by_pair if _has_no_majority(Counter(level for *_, level in given))}
    seen = Case.objects.filter(Q(reasons__has_key=Case.Reason.DISAGREEMENT) | ~Q(done_at=None), collection=collection)
    reviewed = Review.objects.holding(collection)
    left = disputed - set(seen.values_list("image_id", "caption_id"))
    hidden = {pair for pair in left if pair not in reviewed and not _is_excluded(pair, reviewed)}
    images = {image for image, _ in hidden}
    captions = {caption for _, caption in hidden}
    asked = Item.objects.filter(hit__round=round, image__in=images, caption__in=captions)
    return hidden & set(asked.order_by().values_list("image_id", "caption_id"))


def wording_of(text: str) -> str:
    """Return the words of a caption that distinguish it: without case, punctuation and articles.

    >>> wording_of("A dog, on the Beach.")
    'dog on beach'
    """
    return " ".join(word for word in words_of(text) if word not in _ARTICLES)


def group_of(image: Image, caption: Caption) -> list[Pair]:
    """Return the pair and its near-duplicates among the judged pairs of the collection, as database ids.

    A near-duplicate has a caption of the same wording and the same picture, or one that looks nearly alike as far as
    the clean-up has compared pictures (``corpus.pictures.looks``). At most 100 pairs, the pair itself first.
    """
    images = _near_images(image)
    judged = answers_on(images).of_candidates()
    rows = judged.order_by("image_id", "caption_id").values_list("image_id", "caption_id", "caption__text").distinct()
    wording = wording_of(caption.text)
    others = [(near, other) for near, other, text in rows if wording_of(text) == wording]
    pair = (image.pk, caption.pk)
    return [pair, *(other for other in dict.fromkeys(others) if other != pair)][:MOST_ALIKE]


def _has_no_majority(votes: Counter[int]) -> bool:
    return votes.total() > 1 and 2 * max(votes.values()) <= votes.total()


def _is_excluded(pair: Pair, reviewed: Mapping[Any, Review]) -> bool:
    sides = (reviewed.get((pair[0], None)), reviewed.get((None, pair[1])))
    return any(review is not None and review.conclusion == Review.Conclusion.EXCLUDED for review in sides)


def _with(case: Case, reasons: dict[str, str], reporters: Mapping[Pair, int]) -> Case:
    times: dict[str, int] = {Case.Reason.REPORTED: reporters.get((case.image_id, case.caption_id), 0)}
    case.reasons = reasons
    case.priority = sum(WEIGHTS[reason] * times.get(reason, 1) for reason in reasons)
    return case


def _near_images(image: Image) -> list[int]:
    if not image.look:
        return [image.pk]
    rows = list(Image.objects.filter(collection=image.collection_id).exclude(look="").values_list("pk", "look"))
    near = {rows[place][0] for _, place, _ in alike([image.look], [look for _, look in rows])}
    return sorted({image.pk, *near})
