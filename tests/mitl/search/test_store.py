"""Stored lists: which of them are used, and those over the whole gallery as those of every sample of it."""

import numpy as np
import pytest

from core.errors import CounterpartError
from corpus.models import Sample
from mitl.models import Annotator, Direction, Pool, Retrieval
from mitl.pooling import pool_proposals
from mitl.search.gallery import load_lists
from mitl.search.store import newest_lists
from tests.factories import make_annotator, make_collection, make_retrieval, make_sample
from tests.mitl.searches import few_queries, retrieve

I2T, T2I = Direction


@pytest.fixture
def zoo(db):
    return make_collection(images=6, captions_each=2)


@pytest.fixture
def sample(zoo):
    return make_sample(zoo)


def test_lists_of_several_annotators_are_side_by_side(zoo, sample):
    annotators = [make_annotator("one"), make_annotator("two")]
    retrievals = [make_retrieval(annotator, sample, seed=seed) for seed, annotator in enumerate(annotators)]
    found = newest_lists(zoo, annotators, sample, 3)
    for annotator, retrieval in enumerate(retrievals):
        np.testing.assert_array_equal(found.items(T2I)[annotator], load_lists(retrieval)[T2I].items[:, :3])
    caption_ids = np.array(zoo.captions.values_list("pk", flat=True))
    np.testing.assert_array_equal(caption_ids[found.places(I2T)], found.items(I2T))


def test_missing_and_shallow_lists_name_the_command_to_run(zoo, sample):
    one, two = make_annotator("one"), make_annotator("two")
    make_retrieval(one, sample, depth=3)
    with pytest.raises(CounterpartError) as refused:
        newest_lists(zoo, [one, two], sample, 4)
    assert str(refused.value) == (
        "2 annotators, as they are now, have no lists 4 deep for queries: one (3 deep), two."
        " Run: manage.py retrieve zoo --annotators one,two --queries queries --depth 4"
    )


def test_lists_of_a_sample_are_not_those_of_the_whole_gallery(zoo, sample):
    annotator = make_annotator()
    make_retrieval(annotator, sample)
    with pytest.raises(CounterpartError, match="the whole gallery: overlap"):
        newest_lists(zoo, [annotator], None, 5)


@pytest.mark.parametrize("depth", [0, 7])
def test_depths_that_the_gallery_does_not_have_are_refused(zoo, depth):
    with pytest.raises(CounterpartError, match="1 to 6"):
        newest_lists(zoo, [make_annotator()], None, depth)


@pytest.fixture
def few(db) -> Sample:
    """Some queries of a gallery, in other places of their lists than in the gallery's."""
    return few_queries(make_collection(images=12), range(3, 6), range(10, 14))


def search(sample: Sample | None, few: Sample, annotator: Annotator) -> Retrieval:
    return retrieve(few.collection, annotators=[annotator], sample=sample, depth=5)[0]


def found(few: Sample, annotator: Annotator):
    lists = newest_lists(few.collection, [annotator], few, 5).lists[0]
    return {direction: (ranked.queries, ranked.items, ranked.scores) for direction, ranked in lists.items()}


def test_lists_over_the_whole_gallery_hold_what_a_search_for_the_sample_finds(few):
    annotator = make_annotator()
    search(None, few, annotator)
    sliced = found(few, annotator)
    search(few, few, annotator)
    own = found(few, annotator)
    assert sliced.keys() == own.keys()
    for direction, parts in own.items():
        for mine, wanted in zip(sliced[direction], parts, strict=True):
            np.testing.assert_array_equal(mine, wanted)


def test_a_pool_of_lists_over_the_whole_gallery_is_the_pool_of_a_search_for_the_sample(few):
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
