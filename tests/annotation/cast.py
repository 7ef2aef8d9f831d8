"""What tests about conclusions need: HITs answered without the judging pages in between."""

from annotation.models import Assignment, Judgment, Worker
from annotation.work.leases import SEAT_AFTER
from corpus.models import Match, Sample
from hits.models import HIT, Control, Item, Round, Seat
from mitl.models import Proposal
from tests.factories import make_assignment


def answer(hit: HIT, *levels: int, seat: int = 1, state: str = "accepted", worker: Worker | None = None) -> Assignment:
    """Judge the HIT's candidates in order with ``levels``, and its controls rightly."""
    assignment = make_assignment(hit.seats.get(number=seat), worker)
    wanted = iter(levels)
    golds = {Control.Polarity.POSITIVE: 1, Control.Polarity.NEGATIVE: 4}
    Judgment.objects.bulk_create(
        _judgment(assignment, item, golds[item.control.polarity] if item.control else next(wanted))
        for item in hit.items.select_related("control")
    )
    Assignment.objects.filter(pk=assignment.pk).update(state=state)
    Seat.objects.filter(pk=assignment.seat_id).update(state=SEAT_AFTER[Assignment.State(state)])
    return assignment


def say(assignment: Assignment, item: Item, level: int, shortcoming: str = "", wrong_way: str = "") -> Judgment:
    made = _judgment(assignment, item, level, shortcoming=shortcoming, wrong_way=wrong_way)
    made.save()
    return made


def _judgment(assignment: Assignment, item: Item, level: int, **reasons: str) -> Judgment:
    worker, pair = assignment.worker, {"image_id": item.image_id, "caption_id": item.caption_id}
    return Judgment(assignment=assignment, item=item, worker=worker, level=level, **pair, **reasons)


def candidates(hit: HIT) -> list[tuple[int, int]]:
    """The pairs asked about, in their places."""
    return list(hit.items.filter(control=None).order_by("place").values_list("image_id", "caption_id"))


def sample_of(round: Round) -> Sample:
    return round.pool.sample


def propose(round: Round, pairs: list[tuple[int, int]], annotator, direction: str = "i2t") -> None:
    """Let ``annotator`` have proposed the pairs in this order, with ranks from 1."""
    Proposal.objects.bulk_create(
        Proposal(
            pool=round.pool,
            annotator=annotator,
            image_id=image,
            caption_id=caption,
            direction=direction,
            rank=rank,
            score=1 / rank,
        )
        for rank, (image, caption) in enumerate(pairs, 1)
    )


def associate(collection, source: str, pairs: list[tuple[int, int]], *, score=None, grade=None) -> None:
    Match.objects.bulk_create(
        Match(collection=collection, image_id=image, caption_id=caption, source=source, score=score, grade=grade)
        for image, caption in pairs
    )
