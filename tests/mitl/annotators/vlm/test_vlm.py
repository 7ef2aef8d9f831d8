"""A model behind a chat endpoint as an annotator: searched in a cascade, paid once, refused in one line."""

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from chat_endpoint import Asked, refused, said, serving
from core.errors import CounterpartError
from corpus.models import Image, Sample
from counterpart_annotators.base import CrossEncoder
from counterpart_annotators.kinds.vlm import annotator as vlm
from mitl.annotators import load
from mitl.hosting.plain_rows import plain_captions, plain_images
from mitl.models import Annotator, Direction
from mitl.registration import add_annotator
from mitl.search.gallery import load_lists
from mitl.search.request import Cascade
from tests.factories import make_annotator, make_collection, make_sample
from tests.mitl.annotators.learned import settings_of
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


def test_equal_pictures_with_equal_captions_are_one_question(zoo, stub):
    zoo.images.update(sha256="a" * 64)
    zoo.captions.update(text="the same")
    ready(seer_at(stub), zoo).pairs(np.array([0, 1, 2]), np.array([0, 2, 4]))
    assert len(stub.asked) == 1


@pytest.mark.parametrize("changed", [{"model": "another"}, {"picture": 64}])
def test_another_model_or_another_size_is_another_question(zoo, stub, changed):
    for annotator in (seer_at(stub), seer_at(stub, "other", **changed)):
        ready(annotator, zoo).pairs(np.array([0]), np.array([0]))
    assert len(stub.asked) == 2


def test_another_picture_of_the_same_name_is_another_question(zoo, stub):
    for sha256 in ("a" * 64, "b" * 64):
        zoo.images.update(sha256=sha256)
        ready(seer_at(stub), zoo).pairs(np.array([0]), np.array([0]))
    assert len(stub.asked) == 2


@pytest.mark.slow
def test_it_scores_a_cascade_anew(zoo, sample, stub, words):
    retrieval = retrieve(zoo, annotators=[seer_at(stub)], sample=sample, depth=3, cascade=Cascade(words, 5))[0]
    lists = load_lists(retrieval)[Direction.IMAGE_TO_CAPTION]
    texts = dict(zoo.captions.values_list("pk", "text"))
    assert all(texts[caption].startswith("caption 0") for caption in lists.items[:, 0].tolist())


@pytest.mark.slow
def test_what_an_estimate_asks_is_not_paid_again_by_the_search(zoo, sample, stub, words):
    seer = seer_at(stub, parallel=2)
    wish = {"annotators": [seer], "sample": sample, "depth": 3, "cascade": Cascade(words, 3)}
    retrieve(zoo, annotators=[words], sample=sample, depth=3)
    told = estimate_retrieval(zoo, **wish)[0]
    estimated = len(stub.asked)
    assert 0 < estimated <= told.pairs
    retrieve(zoo, **wish)
    assert len(stub.asked) == told.pairs


@pytest.mark.slow
def test_a_second_estimate_costs_nothing_and_tells_the_price(zoo, sample, stub, words):
    seer = seer_at(stub, input_price="10000", per_minute=6000)
    wish = {"annotators": [seer], "sample": sample, "depth": 3, "cascade": Cascade(words, 3)}
    first = estimate_retrieval(zoo, **wish)[0]
    asked = len(stub.asked)
    second = estimate_retrieval(zoo, **wish)[0]
    assert len(stub.asked) == asked
    assert first.price == second.price == 1  # 100 tokens at 10,000 a million
    assert second.pairs_a_second <= 100
    assert f"at a price of about {second.pairs:,}.00, less for pairs that were paid for before" in str(second)


@pytest.mark.slow
def test_a_search_that_broke_off_goes_on_without_paying_again(zoo, sample, stub, words):
    wish = {"annotators": [seer_at(stub, parallel=1)], "sample": sample, "depth": 3, "cascade": Cascade(words, 3)}
    stub.answer = lambda asked: refused(500) if len(stub.asked) > 4 else likes_first_captions(asked)
    with pytest.raises(CounterpartError, match="^seer: .* cannot answer now .*answers are kept"):
        retrieve(zoo, **wish)
    stub.answer = likes_first_captions
    (found,) = retrieve(zoo, **wish)
    with serving() as other:
        other.answer = likes_first_captions
        (fresh,) = retrieve(zoo, **wish | {"annotators": [seer_at(other, "fresh", parallel=1)]})
        assert len(stub.asked) == len(other.asked) + 1  # the one that failed
    assert found.sha256 == fresh.sha256


def test_a_ceiling_stops_a_search_and_a_higher_one_goes_on(zoo, sample, stub, words):
    wish = {"sample": sample, "depth": 3, "cascade": Cascade(words, 3)}
    with pytest.raises(CounterpartError, match="Its ceiling of 3 requests is reached"):
        retrieve(zoo, annotators=[seer_at(stub, ceiling=3)], **wish)
    assert len(stub.asked) == 3
    retrieve(zoo, annotators=[seer_at(stub, "higher")], **wish)
    assert len(stub.asked) > 3


def test_its_key_comes_from_the_environment_and_stands_nowhere_else(zoo, stub, monkeypatch, settings):
    monkeypatch.setenv("SEER_KEY", f"{KEY}\n")
    seer = seer_at(stub, key_variable="SEER_KEY")
    ready(seer, zoo).pairs(np.array([0]), np.array([0]))
    assert stub.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in str(seer.options)
    kept = [path.read_bytes() for path in settings.VAR_DIR.rglob("*") if path.is_file()]
    assert not any(KEY.encode() in content for content in kept)


def test_a_variable_that_is_not_set_is_named(zoo, stub, monkeypatch):
    monkeypatch.delenv("SEER_KEY", raising=False)
    with pytest.raises(CounterpartError, match="the environment variable SEER_KEY of its key is not set"):
        load(seer_at(stub, key_variable="SEER_KEY"))


def test_without_a_model_it_says_how_to_name_one(db):
    with pytest.raises(CounterpartError, match="add the annotator with --option model=NAME"):
        load(make_annotator("seer", "vlm", **settings_of("vlm")))


@pytest.mark.parametrize(
    ("option", "line"),
    [
        ("endpoint=localhost:8000", "must be an address like https://host/v1"),
        ("endpoint=https://me:secret@host/v1", "contains a name or a password"),
        ("money=five", "Invalid money 'five': enter a number."),
        ("money=-1", "Invalid money '-1': ensure this value is greater than or equal to 0."),
        ("input_price=NaN", "Invalid input price 'NaN': enter a number."),
        ("ceiling=0", "Invalid ceiling '0'"),
        ("parallel=100", "Invalid parallel '100'"),
        (f"key_variable={KEY}", "takes the name of an environment variable that holds the key, never the key itself"),
    ],
)
def test_settings_that_will_not_do_are_refused_and_nothing_is_kept(db, option, line):
    with pytest.raises(CommandError, match=line) as told:
        call_command("add_annotator", "seer", "--kind", "vlm", "--option", option)
    assert not Annotator.objects.exists()
    assert KEY not in str(told.value)
    assert "secret@" not in str(told.value)


def test_an_image_without_a_picture_is_refused_before_anything_is_asked(zoo, sample, stub, words):
    Image.objects.filter(key="3").update(file="")
    with pytest.raises(CounterpartError):
        retrieve(zoo, annotators=[seer_at(stub)], sample=sample, depth=3, cascade=Cascade(words, 3))
    assert stub.asked == []


def test_its_page_tells_model_and_wording(db):
    told = vlm.architecture(settings_of("vlm", model="seer"), {})
    assert told["model"] == "seer"
    assert "wording 1" in told["question"]
