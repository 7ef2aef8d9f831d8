"""A model behind a chat endpoint as an annotator: searched in a cascade, paid once, refused in one line."""

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from chat_asking import Asking, service_at
from chat_endpoint import Asked, refused, said, serving
from core.errors import CounterpartError
from corpus.models import Image, Sample
from counterpart_annotators.base import CrossEncoder
from counterpart_annotators.kinds.vlm.spending import Ceiling
from mitl.annotators import load
from mitl.hosting import purses
from mitl.hosting.plain_rows import plain_captions, plain_images
from mitl.models import Annotator, ChatRequest
from mitl.registration import add_annotator
from mitl.search.request import Cascade
from tests.factories import make_annotator, make_collection, make_sample
from tests.mitl.searches import estimate_retrieval, retrieve

KEY = "sk-very-secret"


@pytest.fixture
def stub():
    """It finds that a caption fits the better the lower its number is: captions read "caption 0 of image 3"."""
    with serving() as stub:
        stub.answer = likes_first_captions
        yield stub


@pytest.fixture
def zoo(transactional_db):
    zoo = make_collection(images=5, pictures=True)
    for image in zoo.images.all():
        image.sha256 = image.key * 64
        image.save()
    return zoo


@pytest.fixture
def sample(zoo) -> Sample:
    return make_sample(zoo)


@pytest.fixture
def words(zoo) -> Annotator:
    return make_annotator("words")


def likes_first_captions(asked: Asked):
    return said("1", levels={"1": 0.8, "4": 0.2} if asked.caption.startswith("caption 0") else {"1": 0.1, "4": 0.9})


def seer_at(stub, name: str = "seer", **options) -> Annotator:
    return add_annotator(name, kind="vlm", options={"endpoint": stub.url, "model": "seer", "attempts": 1, **options})


def ready(annotator: Annotator, collection):
    images = plain_images(collection.images.order_by("pk"))
    captions = plain_captions(collection.captions.order_by("pk"), {})
    return load(annotator).ready(images, captions)


def test_pairs_score_by_their_expected_match_weight(zoo, stub):
    scores = ready(seer_at(stub), zoo).pairs(np.array([0, 0]), np.array([0, 1]))
    assert scores.tolist() == pytest.approx([0.8, 0.1])
    assert scores.dtype == np.float32
    assert isinstance(load(seer_at(stub)), CrossEncoder)


def test_no_pair_is_asked_twice_by_whatever_annotator(zoo, stub):
    pairs = np.array([0, 0, 1]), np.array([0, 1, 0])
    first = ready(seer_at(stub), zoo).pairs(*pairs)
    again = ready(seer_at(stub, "higher", ceiling=20_000), zoo).pairs(*pairs)
    assert again.tolist() == first.tolist()
    assert len(stub.asked) == 3


@pytest.mark.parametrize("changed", [{"model": "another"}, {"picture": 64}])
def test_another_model_or_another_size_is_another_question(zoo, stub, changed):
    for annotator in (seer_at(stub), seer_at(stub, "other", **changed)):
        ready(annotator, zoo).pairs(np.array([0]), np.array([0]))
    assert len(stub.asked) == 2


@pytest.mark.slow
def test_what_an_estimate_asks_is_not_paid_again_by_the_search(zoo, sample, stub, words):
    seer = seer_at(stub, parallel=2)
    wish = {"annotators": [seer], "sample": sample, "depth": 3, "cascade": Cascade(words, 3)}
    retrieve(zoo, annotators=[words], sample=sample, depth=3)
    estimate = estimate_retrieval(zoo, **wish)[0]
    estimated = len(stub.asked)
    assert 0 < estimated <= estimate.pairs
    retrieve(zoo, **wish)
    assert len(stub.asked) == estimate.pairs


@pytest.mark.slow
def test_a_search_that_broke_off_goes_on_without_paying_again(zoo, sample, stub, words):
    wish = {"annotators": [seer_at(stub, parallel=1)], "sample": sample, "depth": 3, "cascade": Cascade(words, 3)}
    stub.answer = lambda asked: refused(500) if len(stub.asked) > 4 else likes_first_captions(asked)
    with pytest.raises(CounterpartError, match="^seer: .* cannot answer"):
        retrieve(zoo, **wish)
    stub.answer = likes_first_captions
    (found,) = retrieve(zoo, **wish)
    with serving() as other:
        other.answer = likes_first_captions
        (fresh,) = retrieve(zoo, **wish | {"annotators": [seer_at(other, "fresh", parallel=1)]})
        assert len(stub.asked) == len(other.asked) + 1  # the one that failed
    assert found.sha256 == fresh.sha256


def test_a_ceiling_stops_a_search_and_a_higher_one_goes_on_from_its_answers(zoo, sample, stub, words):
    wish = {"sample": sample, "depth": 3, "cascade": Cascade(words, 3)}
    with pytest.raises(CounterpartError, match="ceiling of 3 requests"):
        retrieve(zoo, annotators=[seer_at(stub, ceiling=3)], **wish)
    assert len(stub.asked) == 3
    retrieve(zoo, annotators=[seer_at(stub, "higher")], **wish)
    assert 3 < len(stub.asked) == ChatRequest.objects.values("question").distinct().count()


def test_money_is_never_passed_even_by_many_at_once(transactional_db, stub):
    most = service_at("").prices.most("dog")
    asking = Asking(stub, purses, ceiling=Ceiling(100, 2 * most), parallel=8)
    stub.answer = lambda asked: said("1", usage=None)
    with pytest.raises(CounterpartError, match="ceiling"):
        asking.ask(*(f"d{number}g" for number in range(8)))
    assert len(stub.asked) <= 2
    assert purses.spent(asking.service.purse)[1] <= 2 * most


def test_its_key_comes_from_the_environment_and_is_stored_nowhere(zoo, stub, monkeypatch, settings):
    monkeypatch.setenv("SEER_KEY", f"{KEY}\n")
    seer = seer_at(stub, key_variable="SEER_KEY")
    ready(seer, zoo).pairs(np.array([0]), np.array([0]))
    assert stub.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in str(seer.options)
    kept = [path.read_bytes() for path in settings.VAR_DIR.rglob("*") if path.is_file()]
    assert not any(KEY.encode() in content for content in kept)


def test_a_variable_that_is_not_set_is_named(zoo, stub, monkeypatch):
    monkeypatch.delenv("SEER_KEY", raising=False)
    with pytest.raises(CounterpartError, match="SEER_KEY"):
        load(seer_at(stub, key_variable="SEER_KEY"))


@pytest.mark.parametrize(
    ("option", "line"),
    [
        ("endpoint=localhost:8000", "https://host/v1"),
        ("endpoint=https://me:secret@host/v1", "password"),
        ("money=-1", "Invalid money '-1'"),
        ("input_price=NaN", "Invalid input price 'NaN'"),
        ("ceiling=0", "Invalid ceiling '0'"),
        ("parallel=100", "Invalid parallel '100'"),
        (f"key_variable={KEY}", "key_variable"),
    ],
)
def test_invalid_settings_are_refused_and_nothing_is_kept(db, option, line):
    with pytest.raises(CommandError, match=line) as raised:
        call_command("add_annotator", "seer", "--kind", "vlm", "--option", option)
    assert not Annotator.objects.exists()
    assert KEY not in str(raised.value)
    assert "secret@" not in str(raised.value)


def test_an_image_without_a_picture_is_refused_before_anything_is_asked(zoo, sample, stub, words):
    Image.objects.filter(key="3").update(file="")
    with pytest.raises(CounterpartError):
        retrieve(zoo, annotators=[seer_at(stub)], sample=sample, depth=3, cascade=Cascade(words, 3))
    assert stub.asked == []
