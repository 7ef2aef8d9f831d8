"""Reviews by the API: added as the page of a pair adds them."""

import pytest

from corpus.models import Collection
from dataset.models import Review
from dataset.reviews.reviews import require_two_reviewers
from tests.console.api.calls import Caller, caller_of, check_refused
from tests.factories import make_collection

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection() -> Collection:
    return make_collection(images=4)


@pytest.fixture
def pair(collection) -> dict[str, str]:
    image = collection.images.first()
    caption = collection.captions.exclude(image=image).first()
    return {"collection": collection.name, "image": image.key, "caption": caption.key}


@pytest.fixture
def caller(db) -> Caller:
    return caller_of("reviewer", name="alex")


def test_a_reviewer_gives_a_pair_a_level(caller, pair):
    response = caller.post("/reviews", pair | {"conclusion": "level", "level": 3, "reason": "Another dog."})
    assert response.status_code == 201
    (answer,) = response.json()["results"]
    assert {name: answer[name] for name in ("image", "caption", "level", "reason", "by", "needs_second")} == {
        **{name: pair[name] for name in ("image", "caption")},
        **{"level": 3, "reason": "Another dog.", "by": "alex", "needs_second": False},
    }
    assert Review.objects.get().level == 3


def test_where_two_have_to_agree_a_second_person_agrees(caller, pair, collection):
    require_two_reviewers(collection, True, actor="admin")
    (answer,) = caller.post("/reviews", pair | {"conclusion": "level", "level": 4}).json()["results"]
    assert answer["needs_second"]
    assert "yourself" in caller.post(f"/reviews/{answer['id']}/second").json()["detail"]
    (agreed,) = caller_of("reviewer", name="kim").post(f"/reviews/{answer['id']}/second").json()["results"]
    assert (agreed["seconded_by"], Review.objects.get().is_settled) == ("kim", True)


def test_a_review_is_undone_by_a_new_one(caller, pair, collection):
    (answer,) = caller.post("/reviews", pair | {"conclusion": "level", "level": 4}).json()["results"]
    (undone,) = caller.post(f"/reviews/{answer['id']}/undo").json()["results"]
    assert (undone["conclusion"], undone["undoes"]) == ("kept", answer["id"])
    assert [one.conclusion for one in Review.objects.order_by("pk")] == ["level", "kept"]


def test_a_review_that_another_one_came_before_unseen_is_refused(caller, pair):
    caller_of("reviewer", name="kim").post("/reviews", pair | {"conclusion": "level", "level": 1})
    check_refused(
        caller.post("/reviews", pair | {"conclusion": "level", "level": 4, "seen": 0}), 422, "kim reviewed picture"
    )
    assert Review.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"conclusion": "kept", "grounds": "wrong"}, "has no grounds"),
        ({"conclusion": "kept", "image": "none"}, "no image 'none'"),
        ({"conclusion": "kept", "reason": "a\ud800"}, "it has half of a surrogate pair"),
        ({"conclusion": "maybe"}, "conclusion: Input should be"),
        ({"conclusion": "kept", "paid": True}, "paid"),
    ],
)
def test_an_invalid_review_is_refused(caller, pair, change, message):
    check_refused(caller.post("/reviews", pair | change), 422, message)
    assert not Review.objects.exists()


def test_reviews_are_listed_in_their_order_and_by_collection(caller, pair):
    other = make_collection("farm", images=1)
    for level in (1, 2, 3):
        caller.post("/reviews", pair | {"conclusion": "level", "level": level})
    first = caller.get("/reviews?limit=2").json()
    second = caller.get(f"/reviews?limit=2&after={first['next']}").json()
    assert [one["level"] for part in (first, second) for one in part["results"]] == [1, 2, 3]
    assert caller.get(f"/reviews?collection={other}").json()["results"] == []
