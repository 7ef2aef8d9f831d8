"""Lists over the whole gallery are those of every sample of it."""

import numpy as np
import pytest

from corpus.models import Sample
from mitl.models import Annotator, Pool, Retrieval
from mitl.pooling import pool_proposals
from mitl.search.gallery import open_gallery
from mitl.search.request import Search
from mitl.search.retrieval import retrieve
from mitl.search.store import newest_lists
from tests.factories import make_annotator, make_collection
from tests.mitl.searches import few_queries

pytestmark = pytest.mark.django_db


@pytest.fixture
def few() -> Sample:
    """Some queries of a gallery, in other places of their lists than in the gallery's."""
    return few_queries(make_collection(images=12), range(3, 6), range(10, 14))


def search(sample: Sample | None, few: Sample, annotator: Annotator, depth: int = 5) -> Retrieval:
    return retrieve(Search(open_gallery(few.collection, sample), [annotator], depth=depth))[0]


def found(few: Sample, annotator: Annotator):
    lists = newest_lists(few.collection, [annotator], few, 5).lists[0]
    return {direction: (ranked.queries, ranked.items, ranked.scores) for direction, ranked in lists.items()}


def test_they_hold_what_a_search_for_the_sample_finds(few):
    annotator = make_annotator()
    search(None, few, annotator)
    sliced = found(few, annotator)
    search(few, few, annotator)
    own = found(few, annotator)
    assert sliced.keys() == own.keys()
    for direction, parts in own.items():
        for mine, wanted in zip(sliced[direction], parts, strict=True):
            np.testing.assert_array_equal(mine, wanted)


def test_a_pool_of_them_is_the_pool_of_a_search_for_the_sample(few):
    annotator, pools = make_annotator(), []
    for name, sample in (("of-all", None), ("of-few", few)):
        search(sample, few, annotator)
        pool_proposals(name, collection=few.collection, annotators=[annotator], sample=few, top_k=2, control_depth=5)
        proposals = Pool.objects.get(name=name).proposals.order_by("image", "caption", "direction")
        pools.append(list(proposals.values_list("image", "caption", "direction", "rank", "score")))
    assert pools[0] == pools[1]


def test_lists_for_the_sample_come_first_so_that_a_repeated_pool_stays_the_same(few):
    annotator = make_annotator()
    own = search(few, few, annotator)
    pool = {"collection": few.collection, "annotators": [annotator], "sample": few, "top_k": 2, "control_depth": 5}
    first = pool_proposals("p", **pool)
    search(None, few, annotator)
    assert pool_proposals("p", **pool) == first
    assert first.retrievals.get() == own
