import pytest

from core.errors import CounterpartError
from counterpart_annotators import encoding
from mitl.models import Annotator
from tests.factories import make_annotator, make_collection
from tests.mitl import distances
from tests.mitl.plugged import plug_in
from tests.mitl.searches import retrieve


@pytest.fixture
def annotator(db, monkeypatch):
    plug_in(monkeypatch, distances="tests.mitl.distances")
    distances.encoded.clear()
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
