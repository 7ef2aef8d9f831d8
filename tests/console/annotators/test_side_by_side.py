import numpy as np
import pytest

from console.annotators.search_examples import compared
from mitl.models import Direction
from mitl.search.gallery import load_lists
from tests.factories import make_annotator, make_collection, make_retrieval, make_sample

I2T, T2I = Direction.IMAGE_TO_CAPTION, Direction.CAPTION_TO_IMAGE


@pytest.fixture
def zoo(db):
    return make_collection("menagerie", images=6)


@pytest.fixture
def annotators(zoo):
    """Two annotators that searched the whole zoo, the second of them twice."""
    sample = make_sample(zoo, "all")
    one, two = make_annotator("one"), make_annotator("two")
    return [make_retrieval(annotator, sample, seed=seed) for seed, annotator in enumerate((two, one, two))]


@pytest.mark.parametrize("direction", [I2T, T2I])
def test_every_annotator_has_a_row_with_its_newest_lists(zoo, annotators, direction):
    shown = compared(zoo, direction, 1)
    assert [annotator.name for annotator, _ in shown["rows"]] == ["one", "two"]
    for (_, places), retrieval in zip(shown["rows"], (annotators[1], annotators[2]), strict=True):
        lists = load_lists(retrieval)[direction]
        assert shown["query"].pk == lists.queries[1]
        assert [item.pk for item, _, _ in places] == lists.items[1, :5].tolist()


def test_an_annotator_that_was_not_asked_has_an_empty_row(zoo, annotators):
    some = make_sample(zoo, "some")
    some.captions.set(zoo.captions.all()[4:])
    make_retrieval(annotators[1].annotator, some)
    rows = compared(zoo, T2I, 0)["rows"]
    assert [len(places) for _, places in rows] == [0, 5]


def test_past_the_end_is_the_last_query(zoo, annotators):
    shown = compared(zoo, T2I, 999)
    assert (shown["number"], shown["n_queries"]) == (11, 12)
    assert shown["query"].pk == np.max(load_lists(annotators[0])[T2I].queries)


def test_the_page_leads_from_query_to_query(researcher, zoo, annotators):
    page = researcher.get("/collections/menagerie/annotators/?number=3").text
    assert "?from=caption&amp;number=2" in page
    assert "?from=caption&amp;number=4" in page
    assert "number=12" not in researcher.get("/collections/menagerie/annotators/?number=11").text
