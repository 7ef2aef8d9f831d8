"""Reviews by the API: added as the page of a pair adds them."""

import pytest
from django.contrib.auth.models import Group, User

from corpus.models import Collection
from dataset.models import Case, Review
from dataset.reviews.reviews import require_two_reviewers
from tests.annotation.cast import candidates
from tests.console.api.calls import Caller, caller_for
from tests.factories import make_collection, make_round

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection() -> Collection:
    return make_collection(images=4)


@pytest.fixture
def pair(collection) -> dict[str, str]:
    image = collection.images.first()
    caption = collection.captions.exclude(image=image).first()
    return {"collection": collection.name, "image": image.key, "caption": caption.key}


def reviewer(name: str) -> Caller:
    user = User.objects.create_user(username=name)
    user.groups.add(Group.objects.get(name="reviewer"))
    return caller_for(user)


@pytest.fixture
def caller(db) -> Caller:
    return reviewer("alex")


def test_a_reviewer_gives_a_pair_a_level(caller, pair):
    response = caller.post("/reviews", pair | {"conclusion": "level", "level": 3, "reason": "Another dog."})
    assert response.status_code == 201
    (told,) = response.json()["results"]
    assert {name: told[name] for name in ("image", "caption", "level", "reason", "by", "needs_second")} == {
        **{name: pair[name] for name in ("image", "caption")},
        **{"level": 3, "reason": "Another dog.", "by": "alex", "needs_second": False},
    }
    assert Review.objects.get().level == 3


def test_a_review_settles_the_case_of_its_pair(caller, pair, collection):
    image, caption = collection.images.get(key=pair["image"]), collection.captions.get(key=pair["caption"])
    Case.objects.create(collection=collection, image=image, caption=caption, reasons={"reported": ""}, priority=1)
    caller.post("/reviews", pair | {"conclusion": "kept"})
    assert not Case.objects.waiting().exists()


def test_a_caption_is_excluded_with_grounds(caller, pair, collection):
    del pair["image"]
    body = pair | {"conclusion": "excluded", "grounds": "meaningless", "reason": "It says nothing."}
    assert caller.post("/reviews", body).json()["results"][0]["image"] is None
    assert collection.captions.get(key=pair["caption"]).excluded_at


def test_the_same_review_twice_is_one(caller, pair):
    first, second = (caller.post("/reviews", pair | {"conclusion": "level", "level": 4}).json() for _ in range(2))
    assert first == second
    assert Review.objects.count() == 1


def test_where_two_have_to_agree_a_second_person_agrees(caller, pair, collection):
    require_two_reviewers(collection, True, actor="admin")
    (told,) = caller.post("/reviews", pair | {"conclusion": "level", "level": 4}).json()["results"]
    assert told["needs_second"]
    assert "yourself" in caller.post(f"/reviews/{told['id']}/second").json()["detail"]
    (agreed,) = reviewer("kim").post(f"/reviews/{told['id']}/second").json()["results"]
    assert (agreed["seconded_by"], Review.objects.get().is_settled) == ("kim", True)


def test_a_review_is_undone_by_a_new_one(caller, pair, collection):
    (told,) = caller.post("/reviews", pair | {"conclusion": "level", "level": 4}).json()["results"]
    (undone,) = caller.post(f"/reviews/{told['id']}/undo").json()["results"]
    assert (undone["conclusion"], undone["undoes"]) == ("kept", told["id"])
    assert [one.conclusion for one in Review.objects.order_by("pk")] == ["level", "kept"]


def test_near_duplicates_are_concluded_on_alike(caller):
    made = make_round(make_collection(images=8), candidates=2)
    (image, caption), _ = candidates(made.hits.get())
    images, captions = made.pool.collection.images, made.pool.collection.captions
    body = {"collection": made.pool.collection.name, "conclusion": "level", "level": 2, "group": True}
    response = caller.post(
        "/reviews", body | {"image": images.get(pk=image).key, "caption": captions.get(pk=caption).key}
    )
    assert [one["level"] for one in response.json()["results"]] == [2]


def test_a_review_that_another_one_came_before_unseen_is_refused(caller, pair):
    reviewer("kim").post("/reviews", pair | {"conclusion": "level", "level": 1})
    response = caller.post("/reviews", pair | {"conclusion": "level", "level": 4, "seen": 0})
    assert response.status_code == 422
    assert "kim reviewed picture" in response.json()["detail"]
    assert Review.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"conclusion": "level"}, "Invalid level None"),
        ({"conclusion": "level", "level": 5}, "Invalid level 5"),
        ({"conclusion": "kept", "level": 1}, "has no level"),
        ({"conclusion": "kept", "grounds": "wrong"}, "has no grounds"),
        ({"conclusion": "excluded", "grounds": "wrong", "reason": "x"}, "A pair cannot be excluded"),
        ({"conclusion": "excluded", "image": None, "reason": "x"}, "Invalid grounds"),
        ({"conclusion": "excluded", "image": None, "grounds": "wrong"}, "reason is empty"),
        ({"conclusion": "kept", "image": None}, "A pair is needed"),
        ({"conclusion": "kept", "image": "none"}, "no image 'none'"),
        ({"conclusion": "kept", "reason": "a\ud800"}, "it has half of a surrogate pair"),
        ({"conclusion": "kept", "image": "a\0"}, "it has a NUL character"),
        ({"conclusion": "kept", "reason": "a\0"}, "it has a NUL character"),
        ({"conclusion": "maybe"}, "conclusion: Input should be"),
        ({"conclusion": "kept", "paid": True}, "paid"),
    ],
)
def test_an_invalid_review_is_refused(caller, pair, change, told):
    response = caller.post("/reviews", pair | change)
    assert response.status_code == 422
    assert told in response.json()["detail"]
    assert not Review.objects.exists()


def test_who_is_no_reviewer_reads_reviews_and_makes_none(caller, pair, person):
    caller.post("/reviews", pair | {"conclusion": "level", "level": 4})
    reader = caller_for(person)
    assert len(reader.get("/reviews").json()["results"]) == 1
    assert reader.post("/reviews", pair | {"conclusion": "kept"}).status_code == 403
    assert reader.post(f"/reviews/{Review.objects.get().pk}/undo").status_code == 403
    assert Review.objects.count() == 1


def test_reviews_are_listed_in_their_order_and_by_collection(caller, pair):
    other = make_collection("farm", images=1)
    for level in (1, 2, 3):
        caller.post("/reviews", pair | {"conclusion": "level", "level": level})
    first = caller.get("/reviews?limit=2").json()
    second = caller.get(f"/reviews?limit=2&after={first['next']}").json()
    assert [one["level"] for part in (first, second) for one in part["results"]] == [1, 2, 3]
    assert caller.get(f"/reviews?collection={other}").json()["results"] == []


def test_a_longer_list_of_reviews_takes_no_more_queries(caller, pair, django_assert_max_num_queries):
    for level in (1, 2, 3, 4):
        caller.post("/reviews", pair | {"conclusion": "level", "level": level})
    with django_assert_max_num_queries(5):
        assert len(caller.get("/reviews").json()["results"]) == 4


@pytest.mark.parametrize("act", ["undo", "second"])
def test_an_unknown_review_is_not_found(caller, act):
    assert caller.post(f"/reviews/99999999999999999999/{act}").status_code == 404
