"""The acts of reviewers: conclude on pairs, captions and images, agree with one another, undo.

Reviews are only added, and the latest of a subject holds (``dataset.models.Review``). All acts on a collection wait for
each other, so that of two people at once the second one sees what the first one concluded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from annotation.work.retirement import reinstate_controls_of, retire_controls_of
from core import clock
from core.errors import CounterpartError, some_of
from core.events import record
from core.text import check_words, trimmed
from corpus.models import Collection
from dataset.models import Case, Review, ReviewQuerySet, Subject
from hits.question import Level

LONGEST_REASON = 1024


@dataclass(frozen=True)
class Conclusion:
    """What a reviewer concludes: a level for a pair, that a caption or an image is excluded (with grounds and a
    reason), or that it is kept as it is."""

    kind: str
    level: int | None = None
    grounds: str = ""
    reason: str = ""

    @classmethod
    def of(cls, review: Review) -> "Conclusion":
        return cls(review.conclusion, review.level, review.grounds, review.reason)

    def is_like(self, other: "Conclusion") -> bool:
        """Whether both mean the same for a release."""
        return (self.kind, self.level) == (other.kind, other.level)


KEPT = Conclusion(Review.Conclusion.KEPT)


def conclude(
    collection: Collection,
    subjects: Sequence[Subject],
    conclusion: Conclusion,
    *,
    by: User,
    seen: int | None = None,
) -> list[Review]:
    """Review all ``subjects`` (a pair, or a group that is decided at once) alike; return one review for each.

    Where the latest review says the same already, none is added: a double click changes nothing, and a second person
    who concludes the same agrees with a review that waits for one. ``seen`` is the highest id of a review that the
    person saw when they decided. Raises CounterpartError for a review newer than that, and for an invalid conclusion;
    nothing is changed then.
    """
    _check(conclusion, subjects)
    with transaction.atomic():
        locked = Collection.objects.select_for_update().get(pk=collection.pk)
        latest = _latest(locked, subjects)
        holding = _of(subjects).holding(locked)
        same = {subject for subject, review in latest.items() if Conclusion.of(review).is_like(conclusion)}
        _refuse_unseen([review for subject, review in latest.items() if subject not in same], seen)
        return [
            _agree(latest[subject], by)
            if subject in same
            else _add(locked, subject, conclusion, holding.get(subject), by=by)
            for subject in dict.fromkeys(subjects)
        ]


def second(review: Review, *, by: User) -> Review:
    """Agree to a review that needs a second person; it then holds.

    Raises CounterpartError for its author, and for one that does not wait or was replaced by a newer one.
    """
    with transaction.atomic():
        Collection.objects.select_for_update().get(pk=review.collection_id)
        current = Review.objects.get(pk=review.pk)
        if current.by_id == by.pk:
            raise CounterpartError(f"You concluded {current} yourself; another person has to agree.")
        if current.is_settled or _latest(current.collection, [current.subject])[current.subject].pk != current.pk:
            raise CounterpartError(
                f"The review {current} does not wait for a second person (any more); reload the page."
            )
        return _agree(current, by, closes=current.undoes_id is None)


def undo(reviews: Sequence[Review], *, by: User) -> list[Review]:
    """Take back reviews, those of one act, by new ones that say what held before; their cases wait again.

    Undoing twice changes nothing. Raises CounterpartError for reviews that others have replaced since.
    """
    if not reviews:
        raise CounterpartError("No review to undo: name at least one.")
    with transaction.atomic():
        locked = Collection.objects.select_for_update().get(pk=reviews[0].collection_id)
        subjects = [review.subject for review in reviews]
        latest = _latest(locked, subjects)
        before = _of(subjects).filter(pk__lt=min(review.pk for review in reviews)).holding(locked)
        undone = []
        for review in Review.objects.filter(pk__in=[one.pk for one in reviews], collection=locked):
            last = latest[review.subject]
            former = before.get(review.subject)
            wanted = Conclusion.of(former) if former else KEPT
            if last.pk != review.pk:
                if last.by_id != by.pk or not Conclusion.of(last).is_like(wanted):
                    raise CounterpartError(f"{last.by} has reviewed this since: {last}. Reload the page.")
                undone.append(last)
                continue
            holds = _of([review.subject]).holding(locked).get(review.subject)
            undone.append(_add(locked, review.subject, wanted, holds, by=by, undoes=review))
            Case.objects.filter(collection=locked, done_at=_settled_at(review)).update(done_at=None)
        return undone


def latest_review(subjects: Sequence[Subject]) -> int:
    """Return the highest id of a review of the subjects, 0 without one: what a page passes on as ``seen``."""
    return _of(subjects).order_by("-pk").values_list("pk", flat=True).first() or 0


def require_two_reviewers(collection: Collection, required: bool, *, actor: str) -> bool:
    """Set whether reviews of the collection that change its dataset need a second person. Existing reviews stay as
    they are. Returns whether anything changed."""
    with transaction.atomic():
        others = Collection.objects.filter(pk=collection.pk, two_reviewers=not required)
        if not others.update(two_reviewers=required):
            return False
        record("two reviewers" if required else "one reviewer", collection, actor=actor)
    return True


def _check(conclusion: Conclusion, subjects: Sequence[Subject]) -> None:
    if not subjects:
        raise CounterpartError("There is nothing to review; name a pair, a caption or an image.")
    if conclusion.kind not in Review.Conclusion.values:
        raise CounterpartError(
            f"Invalid conclusion {conclusion.kind!r}: use one of {some_of(Review.Conclusion.values)}."
        )
    pairs = all(None not in subject for subject in subjects)
    if conclusion.kind == Review.Conclusion.LEVEL and (conclusion.level not in Level.values or not pairs):
        raise CounterpartError(f"Invalid level {conclusion.level!r}: a pair has a level from 1 to 4.")
    if conclusion.kind == Review.Conclusion.EXCLUDED:
        if any(None not in subject for subject in subjects):
            raise CounterpartError("A pair cannot be excluded: give it a level, or exclude its caption or image.")
        if conclusion.grounds not in Review.Grounds.values:
            raise CounterpartError(
                f"Invalid grounds {conclusion.grounds!r}: use one of {some_of(Review.Grounds.values)}."
            )
    if conclusion.kind == Review.Conclusion.EXCLUDED or trimmed(conclusion.reason):
        check_words(conclusion.reason, what="reason", at_most=LONGEST_REASON)


def _refuse_unseen(reviews: Sequence[Review], seen: int | None) -> None:
    newer = [review for review in reviews if seen is not None and review.pk > seen]
    if newer:
        last = newer[-1]
        picture = f"picture {last.image.key}" if last.image else ""
        caption = f"caption {last.caption.key}" if last.caption else ""
        what = " with ".join(filter(None, (picture, caption)))
        raise CounterpartError(f"{last.by} reviewed {what} while you looked at it: {last}. Decide again.")


def _of(subjects: Sequence[Subject]) -> ReviewQuerySet:
    """Return the reviews of the subjects."""
    images = [image for image, caption in subjects if caption is None]
    captions = [caption for image, caption in subjects if image is None]
    chosen = Q(image__in=images, caption=None) | Q(image=None, caption__in=captions)
    for image, caption in subjects:
        chosen |= Q(image=image, caption=caption) if image and caption else Q()
    return Review.objects.filter(chosen)


def _latest(collection: Collection, subjects: Sequence[Subject]) -> Mapping[Subject, Review]:
    rows = _of(subjects).filter(collection=collection).select_related("by").order_by("pk")
    return {review.subject: review for review in rows}


def _add(
    collection: Collection,
    subject: Subject,
    conclusion: Conclusion,
    holds: Review | None,
    *,
    by: User,
    undoes: Review | None = None,
) -> Review:
    """Add a review; it needs a second person where the collection asks for one and it changes what holds."""
    changes = not conclusion.is_like(Conclusion.of(holds) if holds else KEPT)
    review = Review.objects.create(
        collection=collection,
        image_id=subject[0],
        caption_id=subject[1],
        conclusion=conclusion.kind,
        level=conclusion.level,
        grounds=conclusion.grounds,
        reason=trimmed(conclusion.reason),
        by=by,
        needs_second=collection.two_reviewers and changes,
        undoes=undoes,
    )
    said = {"conclusion": conclusion.kind, "level": conclusion.level, "grounds": conclusion.grounds}
    record("reviewed", review, actor=str(by), image=subject[0], caption=subject[1], undoes=undoes and undoes.pk, **said)
    if review.is_settled:
        _mark(review)
    if review.is_settled and undoes is None:
        _close_cases(review)
    return review


def _agree(review: Review, by: User, *, closes: bool = True) -> Review:
    """Second a review that waits for another person than its author; otherwise leave it as it is. ``closes``: its cases
    are closed with it; who agrees to an undo leaves them waiting."""
    if not review.is_settled:
        if review.by_id == by.pk:
            return review
        review.seconded_by = by
        review.seconded_at = clock.now()
        review.save(update_fields=["seconded_by", "seconded_at"])
        record("review seconded", review, actor=str(by))
        _mark(review)
    if closes:
        _close_cases(review)
    return review


def _mark(review: Review) -> None:
    """Exclude the caption or image of a settled review and retire its controls in every round, or undo both."""
    subject = review.caption if review.image is None else review.image if review.caption is None else None
    if subject is None:
        return
    subject.excluded_at = _settled_at(review) if review.conclusion == Review.Conclusion.EXCLUDED else None
    subject.save(update_fields=["excluded_at"])
    shown = {"images": [review.image_id]} if review.image_id else {"captions": [review.caption_id]}
    if subject.excluded_at:
        retire_controls_of(review.collection, **shown, reason=review.reason, actor=str(review.by))
    else:
        reinstate_controls_of(review.collection, **shown, actor=str(review.by))


def _close_cases(review: Review) -> None:
    """Close the cases that a settled review answers: its pair's, or all of an excluded caption or image."""
    if review.conclusion != Review.Conclusion.EXCLUDED and None in review.subject:
        return
    concerned = Q(image=review.image_id) if review.image_id else Q()
    concerned &= Q(caption=review.caption_id) if review.caption_id else Q()
    cases = Case.objects.filter(concerned, collection=review.collection_id, done_at=None)
    cases.update(done_at=_settled_at(review))


def _settled_at(review: Review) -> datetime:
    return review.seconded_at or review.at
