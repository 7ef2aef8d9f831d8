import numpy as np
import pytest

from core.errors import CounterpartError
from mitl.annotators import load
from mitl.models import Annotator, Direction
from mitl.search.gallery import load_lists, open_gallery
from mitl.search.rerank import parse_steps
from tests.factories import make_annotator, make_collection
from tests.mitl import distances
from tests.mitl.plugged import plug_in
from tests.mitl.searches import few_queries, retrieve

HOW = ("several", "distances")


@pytest.fixture(autouse=True)
def plugged(db, monkeypatch):
    plug_in(monkeypatch, distances="tests.mitl.distances")
    distances.encoded.clear()


@pytest.fixture
def zoo(plugged):
    return make_collection(images=7, captions_each=2)


def scores(annotator: Annotator, collection) -> np.ndarray:
    """All scores, an image a row, one pair at a time."""
    encoder, gallery = load(annotator), open_gallery(collection, None)
    rows, columns = encoder.encode_images(gallery.images), encoder.encode_captions(gallery.captions)
    if annotator.name == "distances":
        pairs = [[-np.mean([np.linalg.norm(a - b) for a in row for b in column]) for column in columns] for row in rows]
    else:
        pairs = [[max(a @ b for a in row for b in column) for column in columns] for row in rows]
    return np.array(pairs)


@pytest.mark.parametrize("name", HOW)
@pytest.mark.parametrize("sampled", [False, True])
def test_lists_are_those_of_comparing_pair_by_pair(zoo, name, sampled):
    annotator = make_annotator(name, "distances")
    sample = few_queries(zoo, "123", "345678") if sampled else None
    lists = load_lists(retrieve(zoo, annotators=[annotator], sample=sample, depth=5)[0])
    gallery, wanted = open_gallery(zoo, sample), scores(annotator, zoo)
    best_captions = np.argsort(-wanted, axis=1)[gallery.image_queries, :5]
    best_images = np.argsort(-wanted.T, axis=1)[gallery.caption_queries, :5]
    np.testing.assert_array_equal(lists[Direction.IMAGE_TO_CAPTION].items, gallery.caption_ids[best_captions])
    np.testing.assert_array_equal(lists[Direction.CAPTION_TO_IMAGE].items, gallery.image_ids[best_images])


@pytest.mark.parametrize("name", HOW)
def test_a_re_ranking_reads_the_same_scores(zoo, name):
    annotator = make_annotator(name, "distances")
    retrieval = retrieve(zoo, annotators=[annotator], depth=1, rerank=parse_steps("csls:k=3"))[0]
    found = load_lists(retrieval)[Direction.IMAGE_TO_CAPTION].items[:, 0]
    plain, k = scores(annotator, zoo), 3
    csls = 2 * plain - np.sort(plain, 0)[-k:].mean(0)
    np.testing.assert_array_equal(found, open_gallery(zoo, None).caption_ids[csls.argmax(1)])


@pytest.mark.parametrize("name", HOW)
def test_faiss_refuses_what_is_not_an_inner_product(zoo, name):
    with pytest.raises(CounterpartError, match=f"{name}: FAISS"):
        retrieve(zoo, annotators=[make_annotator(name, "distances")], engine="faiss", depth=3)
