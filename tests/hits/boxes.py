"""Rounds of check boxes for tests: pictures with ten captions each, some of them true."""

from hits.models import Round
from mitl.models import Pool
from tests.factories import make_annotator, make_collection, make_pool, make_retrieval, make_sample
from tests.hits.pools import opened, pack


def pool_of_boxes(*, asked: int = 5, each: int = 10, images: int = 12, name: str = "boxes") -> Pool:
    """The first ``asked`` images with ``each`` captions, their own two among them; one annotator's top-2 lists."""
    collection = make_collection(f"zoo-{name}", images=images, pictures=True)
    sample = make_sample(collection, f"queries-{name}")
    retrieval = make_retrieval(make_annotator(f"machine-of-{name}"), sample, depth=2)
    captions = list(collection.captions.order_by("pk"))
    pairs = [
        (image, captions[(2 * number + place) % len(captions)])
        for number, image in enumerate(collection.images.order_by("pk")[:asked])
        for place in range(each)
    ]
    pool = make_pool(sample, [retrieval], name=f"pool-{name}", pairs=pairs)
    pool.control_depth = 2
    pool.save()
    return pool


def pack_boxes(name: str = "boxes", pool: Pool | None = None, **parameters: object) -> Round:
    """A published round of the browser pool."""
    return opened(pack(name, pool or pool_of_boxes(name=name), task="checkbox", **parameters))
