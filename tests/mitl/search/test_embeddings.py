import numpy as np
import pytest

from core.errors import CounterpartError
from counterpart_annotators import encoding
from counterpart_topk.hubness.reranking import parse_steps
from mitl.annotators import load
from mitl.models import Annotator, Direction
from mitl.search.gallery import load_lists, open_gallery
from tests.factories import make_annotator, make_collection
from tests.mitl import distances
from tests.mitl.plugged import plug_in
from tests.mitl.searches import few_queries, retrieve


@pytest.fixture
def plugged(db, monkeypatch):
    plug_in(monkeypatch, distances="tests.mitl.distances")
    distances.encoded.clear()


@pytest.fixture
def annotator(plugged):
    return make_annotator("several", "distances")


@pytest.fixture
def zoo(annotator):
    return make_collection(images=5, captions_each=2)


def search(collection, annotator: Annotator, depth: int) -> int:
    """Search, and return how many items were encoded for it."""
    before = len(distances.encoded)
    retrieve(collection, annotators=[annotator], depth=depth)
    return len(distances.encoded) - before


def test_a_second_search_encodes_nothing(zoo, annotator):
    assert [search(zoo, annotator, depth) for depth in (2, 3)] == [15, 0]


def test_another_picture_is_read_and_captions_are_not_read_again(zoo, annotator):
    search(zoo, annotator, 2)
    zoo.images.filter(pk=zoo.images.first().pk).update(sha256="another")
    assert search(zoo, annotator, 2) == 5


@pytest.mark.parametrize("change", [{"checksum": "other weights"}, {"options": {"picture": 64}}])
def test_other_weights_or_settings_encode_again(zoo, annotator, change):
    search(zoo, annotator, 2)
    Annotator.objects.update(**change)
    annotator.refresh_from_db()
    assert search(zoo, annotator, 2) == 15


def test_an_annotator_without_preprocessing_keeps_nothing(zoo, annotator, monkeypatch):
    monkeypatch.delattr(distances, "PREPROCESSING")
    assert [search(zoo, annotator, depth) for depth in (2, 3)] == [15, 15]


def test_an_interrupted_encoding_goes_on_from_its_last_part(zoo, annotator, monkeypatch):
    monkeypatch.setattr(encoding, "PART", 2)
    with monkeypatch.context() as patch:
        patch.setattr(distances.Several, "encode_captions", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            search(zoo, annotator, 2)
    assert search(zoo, annotator, 2) == 10


@pytest.mark.parametrize(("device", "message"), [("cuda", "no CUDA device"), ("gpu", "'gpu'; choose")])
def test_a_device_that_torch_does_not_have_is_refused_before_anything_is_computed(
    zoo, annotator, monkeypatch, device, message
):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(CounterpartError, match=message):
        retrieve(zoo, annotators=[annotator], depth=2, device=device)
    assert distances.encoded == []


HOW = ("several", "distances")


@pytest.fixture
def compared(plugged):
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
def test_lists_are_those_of_comparing_pair_by_pair(compared, name, sampled):
    annotator = make_annotator(name, "distances")
    sample = few_queries(compared, "123", "345678") if sampled else None
    lists = load_lists(retrieve(compared, annotators=[annotator], sample=sample, depth=5)[0])
    gallery, wanted = open_gallery(compared, sample), scores(annotator, compared)
    best_captions = np.argsort(-wanted, axis=1)[gallery.image_queries, :5]
    best_images = np.argsort(-wanted.T, axis=1)[gallery.caption_queries, :5]
    np.testing.assert_array_equal(lists[Direction.IMAGE_TO_CAPTION].items, gallery.caption_ids[best_captions])
    np.testing.assert_array_equal(lists[Direction.CAPTION_TO_IMAGE].items, gallery.image_ids[best_images])


@pytest.mark.parametrize("name", HOW)
def test_a_re_ranking_reads_the_same_scores(compared, name):
    annotator = make_annotator(name, "distances")
    retrieval = retrieve(compared, annotators=[annotator], depth=1, rerank=parse_steps("csls:k=3"))[0]
    found = load_lists(retrieval)[Direction.IMAGE_TO_CAPTION].items[:, 0]
    plain, k = scores(annotator, compared), 3
    csls = 2 * plain - np.sort(plain, 0)[-k:].mean(0)
    np.testing.assert_array_equal(found, open_gallery(compared, None).caption_ids[csls.argmax(1)])


@pytest.mark.parametrize("name", HOW)
def test_faiss_refuses_what_is_not_an_inner_product(compared, name):
    with pytest.raises(CounterpartError, match=f"{name}: FAISS"):
        retrieve(compared, annotators=[make_annotator(name, "distances")], engine="faiss", depth=3)
