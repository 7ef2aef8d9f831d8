"""Rounds in which captions are written, for tests."""

from corpus.samples import sample_queries
from hits.models import Round
from mitl.pooling import pool_sample
from tests.factories import make_collection
from tests.hits.pools import opened, pack


def pack_captions(name: str = "written", *, images: int = 3, **parameters: object) -> Round:
    """A published round of the browser pool: one picture each of a new collection."""
    collection = make_collection(f"zoo-{name}", images=images + 2, pictures=True)
    sample = sample_queries(f"queries-{name}", collection=collection, images=images, captions=0)
    return opened(pack(name, pool_sample(sample, actor="test"), task="caption", **parameters))
