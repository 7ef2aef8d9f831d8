"""Which of the right levels of a test's item fits best: what sources know, and what researchers say."""

import pytest
from django.utils.html import strip_tags

from annotation.people.best_levels import Best, set_best
from annotation.people.qualification_tests import QualificationPlan, make_test
from core.errors import CounterpartError
from core.models import Event
from corpus.models import Match
from tests.factories import make_collection


@pytest.fixture
def first(db):
    return make_test("first", collection=make_collection(pictures=True), plan=QualificationPlan(2, 2, 3), actor="x")


def test_a_drawn_pair_has_the_level_that_the_sources_with_levels_agree_on(db):
    zoo = make_collection(pictures=True)
    graded = [
        Match(collection=zoo, image=caption.image, caption=caption, source=source, score=1, grade=grade)
        for number, caption in enumerate(zoo.captions.order_by("pk"))
        for source, grade in (("a", 1 + number % 2), ("b", 1))
    ]
    Match.objects.bulk_create(graded)
    made = make_test("first", collection=zoo, plan=QualificationPlan(2, 1, 3), actor="x")
    agreed = {one.caption_id for one in graded if one.grade == 1} - {one.caption_id for one in graded if one.grade == 2}
    for item in made.items.all():
        assert item.best_level == (1 if item.polarity == "positive" and item.caption_id in agreed else None)


def test_what_is_said_is_kept_and_saying_it_again_changes_nothing(first):
    place = first.items.filter(polarity="negative").first().place
    assert set_best(first, {place: Best(3, " There is a dog. ")}, actor="x") == 1
    assert set_best(first, {place: Best(3, "There is a dog.")}, actor="x") == 0
    assert first.items.filter(best_level=3, reason="There is a dog.").count() == 1
    assert Event.objects.get(verb="explained").data == {"questions": 1}


@pytest.mark.parametrize(
    ("best", "message"), [(Best(2, ""), "not right for item"), (Best(4, "x" * 301), "reason of item .* shorten it")]
)
def test_a_level_of_the_other_side_and_a_long_reason_are_refused(first, best, message):
    place = first.items.filter(polarity="negative").first().place
    with pytest.raises(CounterpartError, match=message):
        set_best(first, {place: best}, actor="x")


def test_a_researcher_says_on_the_page_of_the_test_which_level_fits_best(first, researcher, reviewer):
    places = dict(first.items.values_list("place", "polarity"))
    form = {f"best-{place}": "1" if side == "positive" else "" for place, side in places.items()}
    form |= {f"reason-{place}": f"Reason {place}" for place in places}
    assert "Fits best" in researcher.get("/tests/first/").text
    assert researcher.post("/tests/first/", form).url == "/tests/first/"
    assert set(first.items.values_list("polarity", "best_level")) == {("positive", 1), ("negative", None)}
    assert {item.reason for item in first.items.all()} == {f"Reason {place}" for place in places}
    assert "said which levels fit best in test first" in " ".join(strip_tags(researcher.get("/events/").text).split())
    negative = next(place for place, side in places.items() if side == "negative")
    refused = researcher.post("/tests/first/", form | {f"best-{negative}": "1"})
    assert (refused.status_code, "Select a valid choice" in refused.text) == (422, True)
    assert reviewer.get("/tests/first/").status_code == 403
