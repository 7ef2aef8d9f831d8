"""A packed round that is answered and released, for the tests of what a version proves."""

from django.utils import timezone

from corpus.models import Collection
from dataset.models import Version
from hits.models import Round
from hits.packing.designs import Design
from tests.annotation.cast import answer, associate
from tests.dataset.releasing import release_version
from tests.hits.pools import pack, pool_of

SMALL = Design("small", candidates=4, positives=1, negatives=1)


def judge(round: Round) -> Round:
    round.published_at = timezone.now()
    round.save()
    for hit in round.hits.all():
        n = hit.items.filter(control=None).count()
        answer(hit, *([1, 2, 4, 3] * n)[:n])
    return round


def release(name: str, round: Round, **options: object) -> Version:
    wishes = {"sample": round.pool.sample, "rounds": [round], "partial": True, **options}
    return release_version(name, collection=round.pool.collection, **wishes)


def released(zoo: Collection) -> Version:
    """A judged round of three HITs, released with its originals and a scored source."""
    round = judge(pack("round-1", pool_of(10, images=12, collection=zoo), design=SMALL))
    pairs = list(round.pool.proposals.order_by("pk").values_list("image_id", "caption_id"))[:3]
    associate(zoo, "cxc", pairs, score=4)
    return release("v1", round, merge="original,cxc>=3")
