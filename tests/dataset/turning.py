"""A judged round of which one annotator compares embeddings, for the tests of turns."""

from pathlib import Path

import numpy as np

from hits.models import Round
from mitl.pooling import pool_proposals
from tests.evaluation.worlds import judge_all, published
from tests.factories import make_annotator, make_collection, make_retrieval, make_sample
from tests.hits.pools import SMALL, pack
from tests.mitl.searches import add_embeddings, retrieve

DEPTH = 6


def first_round(folder: Path) -> Round:
    """A judged round of an annotator with embeddings, and one without."""
    zoo = make_collection(images=14, captions_each=1)
    sample = make_sample(zoo)
    rng = np.random.default_rng(0)
    seen = add_embeddings(folder, *(rng.standard_normal((14, 8)).astype(np.float32) for _ in range(2)), "seen")
    retrieve(zoo, annotators=[seen], sample=sample, depth=DEPTH)
    listed = make_annotator("listed")
    make_retrieval(listed, sample, depth=DEPTH)
    pool = pool_proposals(
        "pool", collection=zoo, annotators=[seen, listed], sample=sample, top_k=2, control_depth=DEPTH
    )
    return judge_all(published(pack("first", pool, design=SMALL)))
