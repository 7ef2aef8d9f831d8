"""A judged round of which one annotator compares embeddings, for the tests of turns."""

from pathlib import Path

import numpy as np

from hits.models import Round
from hits.packing.designs import Design
from mitl.pooling import pool_proposals
from mitl.registration import add_annotator
from mitl.search.gallery import open_gallery
from mitl.search.request import Search
from mitl.search.retrieval import retrieve
from tests.evaluation.worlds import judge_all, published
from tests.factories import make_annotator, make_collection, make_retrieval, make_sample
from tests.hits.pools import pack

SMALL = Design("small", 4, 1, 1)
DEPTH = 6


def first_round(folder: Path) -> Round:
    """A judged round of an annotator with embeddings, and one without."""
    zoo = make_collection(images=14, captions_each=1)
    sample = make_sample(zoo)
    rng = np.random.default_rng(0)
    keys = np.array([str(place) for place in range(14)])
    images, captions = (rng.standard_normal((14, 8)).astype(np.float32) for _ in range(2))
    np.savez(folder / "seen.npz", image_ids=keys, images=images, caption_ids=keys, captions=captions)
    seen = add_annotator("seen", kind="files", checkpoint=folder / "seen.npz")
    retrieve(Search(open_gallery(zoo, sample), [seen], depth=DEPTH), actor="test")
    listed = make_annotator("listed")
    make_retrieval(listed, sample, depth=DEPTH)
    pool = pool_proposals(
        "pool", collection=zoo, annotators=[seen, listed], sample=sample, top_k=2, control_depth=DEPTH
    )
    return judge_all(published(pack("first", pool, design=SMALL)))
