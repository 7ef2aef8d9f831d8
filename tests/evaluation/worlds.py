"""A round of three annotators' pairs whose truth is known, for the tests of bias and completeness."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from django.utils import timezone

from annotation.models import Assignment, Judgment
from corpus.models import Match
from hits.models import HIT, Round
from hits.packing.designs import Design
from mitl.models import Pool
from mitl.pooling import pool_proposals
from tests.annotation.cast import answer
from tests.factories import make_annotator, make_collection, make_retrieval, make_sample
from tests.hits.pools import SMALL, pack

NAMES = ("a", "b", "c")
START = datetime(2026, 11, 1, tzinfo=UTC)
AUDIT = {"design": SMALL, "judge": "audit", "audit_share": 0.5, "seed": 4}
GREEDY = {"design": SMALL, "judge": "audit+greedy", "audit_share": 0.3, "seed": 4}


def level_of(image, caption) -> int:
    """What everybody says of a pair: by the keys, so that it is the same on every database; a third are matches."""
    return {0: 1, 1: 2}.get((3 * int(image.key) + 5 * int(caption.key)) % 6, 4)


def known_pool(*, images: int = 14, names: Sequence[str] = NAMES) -> Pool:
    """The top 2 of some annotators' random lists, 6 deep; ``truth`` holds all matches."""
    zoo = make_collection(images=images, captions_each=1)
    sample = make_sample(zoo)
    annotators = [make_annotator(name) for name in names]
    for seed, annotator in enumerate(annotators):
        make_retrieval(annotator, sample, depth=6, seed=seed)
    pairs = [(image, caption) for image in zoo.images.all() for caption in zoo.captions.all()]
    Match.objects.bulk_create(
        Match(collection=zoo, image=image, caption=caption, source="truth", grade=level_of(image, caption))
        for image, caption in pairs
        if level_of(image, caption) < 3
    )
    return pool_proposals("pool", collection=zoo, annotators=annotators, sample=sample, top_k=2, control_depth=6)


def known_round(*, images: int = 14, candidates: int = 4, names: Sequence[str] = NAMES, **parameters: object) -> Round:
    """A published round of that pool."""
    pool = known_pool(images=images, names=names)
    return published(pack("round-1", pool, design=Design("small", candidates, 1, 1), **parameters))


def published(made: Round) -> Round:
    made.published_at = timezone.now()
    made.save()
    return made


def judge(hit: HIT, *, minutes: int = 0, seat: int = 1) -> Assignment:
    """Let a worker answer the HIT rightly, ``minutes`` after the start."""
    items = hit.items.filter(control=None).order_by("place").select_related("image", "caption")
    done = answer(hit, *(level_of(item.image, item.caption) for item in items), seat=seat)
    at = START + timedelta(minutes=minutes)
    Judgment.objects.filter(assignment=done).update(at=at)
    Assignment.objects.filter(pk=done.pk).update(submitted_at=at)
    return done


def judge_all(made: Round) -> Round:
    for minutes, hit in enumerate(made.hits.order_by("number")):
        judge(hit, minutes=minutes)
    return made


def judge_last_top_up(made: Round) -> None:
    for hit in made.top_ups.last().hits.all():
        judge(hit)


def half_judged(pool: Pool) -> Round:
    """An audit in which one HIT is left to judge."""
    audit = published(pack("audit", pool, **AUDIT))
    for hit in list(audit.hits.order_by("number"))[:-1]:
        judge(hit)
    return audit
