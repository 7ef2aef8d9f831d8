import numpy as np
import pytest

from core.errors import CounterpartError
from mitl.models import Direction
from mitl.search.gallery import load_lists
from mitl.search.store import newest_lists
from tests.factories import make_annotator, make_collection, make_retrieval, make_sample

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
