"""Rounds that ask which of two rankings is preferred."""

from django.utils import timezone

from corpus.models import Match
from hits.models import Round
from mitl.models import Pool
from tests.factories import make_collection, make_pool, make_sample
from tests.hits.pools import pack


def study_pool(*, captions: int = 44, name: str = "study", pictures: bool = False) -> Pool:
    """A source ``truth`` with ``captions`` captions of 5 to 8 images, and others with 4 and 9."""
    collection = make_collection(f"zoo-{name}", images=50, captions_each=1, pictures=pictures)
    images, texts = list(collection.images.order_by("pk")), list(collection.captions.order_by("pk"))
    sizes = [*(5 + number % 4 for number in range(captions)), 4, 9]
    Match.objects.bulk_create(
        Match(collection=collection, source="truth", image=images[(number + step) % 50], caption=texts[number], score=1)
        for number, size in enumerate(sizes)
        for step in range(size)
    )
    # A version holds its negatives with score 0.
    Match.objects.create(collection=collection, source="truth", image=images[20], caption=texts[0], score=0)
    pairs = [(images[(number + 30) % 50], texts[number]) for number in range(50)]
    return make_pool(make_sample(collection, f"queries-{name}"), name=f"pool-{name}", pairs=pairs)


def make_study(name: str = "study", pool: Pool | None = None, **parameters: object) -> Round:
    packed = pack(
        name, pool or study_pool(name=name), task="preference", positives="truth", ceiling="1000", **parameters
    )
    Round.objects.filter(pk=packed.pk).update(channel="browser", published_at=timezone.now())
    packed.refresh_from_db()
    return packed
