"""The bench: what speaks against a worker's answer sets, and the answers of one set with what they are compared with:
controls, the votes of others, annotators' ranks, the order and the time."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from annotation.models import Assignment, Draft, Judgment, Report
from annotation.review.worker_cases import signals_of
from annotation.work.answers import NO_PICTURE, places_of
from annotation.work.judgments import answers_from, answers_on
from console.review.answer_sheets import SheetAnswer, pairs_of
from mitl.models import Proposal

Pair = tuple[int, int] | None
REASONS = {
    "control": "wrong control",
    "fast": "too fast",
    "unread": "not read",
    "pattern": "in a pattern",
    "same": "one level",
    "chance": "like chance",
    "copy": "copies an annotator",
    "repeats": "contradicts itself",
    "problem": "a person has to read it",
}
"""The reasons for the flag of an answer set, in a few words: signals, wrong controls, a problem noted by a rule."""


def reasons_of(assignment: Assignment) -> list[str]:
    """Return the keys of REASONS that hold for the set."""
    found = signals_of(assignment) | ({"problem"} if assignment.problem else set())
    return [reason for reason in REASONS if reason in found]


def exhibits_of(assignment: Assignment) -> list[SheetAnswer]:
    """Return the pairs of an assignment's HIT in the order in which its worker saw them, with its judgments, or its
    drafts where none were submitted, and with what they are compared with."""
    pairs = pairs_of(assignment.hit)
    given = [*answers_from([assignment])] or assignment.drafts.exclude(level=NO_PICTURE)
    judgments: dict[int, Judgment | Draft] = {one.item_id: one for one in given}
    skipped = set(Report.objects.filter(worker=assignment.worker_id).values_list("item", flat=True))
    places = {item: place for place, item in places_of(assignment).items()}
    images = {one.pair[0] for one in pairs if one.pair}
    captions = {one.pair[1] for one in pairs if one.pair}
    others = defaultdict[Pair, list[int]](list)
    ranks = defaultdict[Pair, dict[str, int]](dict)
    counted = answers_on(images, captions).of_candidates().counted().exclude(worker=assignment.worker_id)
    for image, caption, level in counted.order_by("level").values_list("image", "caption", "level"):
        others[image, caption].append(level)
    listed = Proposal.objects.filter(image__in=images, caption__in=captions, pool=assignment.hit.round.pool_id)
    by_rank = listed.order_by("annotator__name", "-rank")
    for image, caption, name, rank in by_rank.values_list("image", "caption", "annotator__name", "rank"):
        ranks[image, caption][name] = rank  # the better of both directions, which comes last
    exhibits = [
        replace(
            one,
            judgment=judgments.get(one.item.pk),
            skipped=one.item.pk in skipped,
            place=places.get(one.item.pk, one.item.place),
            others=() if one.item.control else others[one.pair],
            ranks=ranks[one.pair],
        )
        for one in pairs
    ]
    return sorted(exhibits, key=lambda one: one.place)


def followed_by(assignment: Assignment) -> str:
    """Return the annotator whose ranks the set follows, by the signal ``copy``; empty if it follows none."""
    return next((one.get("annotator", "") for one in assignment.signals if one["signal"] == "copy"), "")


def in_evidence(exhibits: Iterable[SheetAnswer], annotator: str) -> list[SheetAnswer]:
    """Return the exhibits with the strongest first: wrong controls, then by the ranks of the annotator that the set
    follows, then as they were shown."""
    last = 10**9
    return sorted(exhibits, key=lambda one: (not one.is_wrong, one.ranks.get(annotator, last), one.place))
