"""The page of a query: an image with its captions, a caption with its images."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.html import strip_tags

from corpus.models import Caption, Match
from dataset.models import Verdict
from dataset.reviews.reviews import Conclusion, conclude
from dataset.verdicts import aggregate_round
from tests.annotation.cast import answer, associate, candidates, propose
from tests.factories import make_annotator, make_collection, make_round

pytestmark = pytest.mark.django_db


@pytest.fixture
def four_levels():
    """A round whose pairs have the verdicts 1, 2, 3 and 4."""
    made = make_round(make_collection(images=8, pictures=True), candidates=4)
    answer(made.hits.get(), 1, 2, 3, 4)
    aggregate_round(made)
    return made


def words_of(page):
    return " ".join(strip_tags(page).split())


def groups(client, query) -> dict[str, set[tuple[int, int]]]:
    response = client.get(reverse(query._meta.model_name, args=[query.pk]))
    assert response.status_code == 200
    return {one.title: {(line.image.pk, line.caption.pk) for line in one.lines} for one in response.context["groups"]}


def originals(image) -> set[tuple[int, int]]:
    return {(image.pk, caption.pk) for caption in image.captions.all()}


@pytest.mark.parametrize(
    ("place", "title"),
    list(enumerate(["Verified: 100% YES", "Verified: partially YES", "Rejected: mostly NO", "Rejected: 100% NO"], 1)),
)
def test_an_image_shows_its_own_captions_and_those_that_people_judged(researcher, four_levels, place, title):
    item = four_levels.hits.get().items.get(place=place)
    pair = (item.image_id, item.caption_id)
    assert groups(researcher, item.image) == {"Original": originals(item.image), title: {pair}}
    assert groups(researcher, item.caption)[title] == {pair}


@pytest.mark.parametrize("two_reviewers", [False, True])
def test_a_review_holds_over_the_verdict_once_it_is_settled(researcher, four_levels, two_reviewers):
    item = four_levels.hits.get().items.first()
    collection, person = four_levels.pool.collection, User.objects.create_user("one")
    collection.two_reviewers = two_reviewers
    collection.save()
    conclude(collection, [(item.image_id, item.caption_id)], Conclusion("level", 4), by=person)
    group = "Verified: 100% YES" if two_reviewers else "Rejected: 100% NO"
    assert group in groups(researcher, item.image)
    conclude(collection, [(item.image_id, item.caption_id)], Conclusion("kept"), by=person)
    assert "Verified: 100% YES" in groups(researcher, item.image)


@pytest.mark.parametrize(("score", "grade", "shown"), [(3.4, None, "cxc 3.4"), (None, 4, "100% NO")])
def test_matches_of_another_source_are_apart_and_not_called_verified(researcher, four_levels, score, grade, shown):
    collection = four_levels.pool.collection
    image, caption = collection.images.last(), collection.captions.first()
    associate(collection, "cxc", [(image.pk, caption.pk)], score=score)
    Match.objects.filter(source="cxc").update(grade=grade)
    assert groups(researcher, caption)["Not judged, known from other sources"] == {(image.pk, caption.pk)}
    assert shown in researcher.get(reverse("caption", args=[caption.pk])).text


def test_each_match_has_its_trail_and_leads_to_its_pair(researcher, four_levels):
    pair, clip = candidates(four_levels.hits.get())[1], make_annotator("clip")
    for one in (four_levels, make_round(four_levels.pool.collection, "later")):
        propose(one, [pair], clip)  # the rank in two pools is shown once
    text = researcher.get(reverse("image", args=[pair[0]])).text
    assert "Partially YES → Partially YES" in words_of(text)
    assert text.count("clip #1 of captions") == 1
    assert (reverse("pair", args=pair) in text, reverse("caption", args=[pair[1]]) in text) == (True, True)


def test_votes_of_several_rounds_are_apart_with_the_verdict_of_each(researcher, four_levels):
    pair = candidates(four_levels.hits.get())[1]
    later = make_round(four_levels.pool.collection, "later", candidates=4)
    answer(later.hits.get(), 3, 3, 3, 3)
    assert pair in candidates(later.hits.get())
    text = words_of(researcher.get(reverse("image", args=[pair[0]])).text)
    assert "Mostly NO not counted yet" in text


def test_a_query_asks_no_more_for_more_matches_and_shows_the_first(researcher, four_levels, monkeypatch):
    monkeypatch.setattr("console.collections.query_sheets.MOST", 5)
    image = four_levels.pool.collection.images.first()
    url = reverse("image", args=[image.pk])
    researcher.get(url)
    with CaptureQueriesContext(connection) as few:
        researcher.get(url)
    aggregation = four_levels.aggregations.get()
    for caption in Caption.objects.exclude(image=image)[:10]:
        said = {"level": 1, "distribution": [1, 0, 0, 0], "confidence": 1, "votes": 1}
        Verdict.objects.get_or_create(aggregation=aggregation, image=image, caption=caption, defaults=said)
    with CaptureQueriesContext(connection) as many:
        text = researcher.get(url).content.decode()
    assert len(many) == len(few)
    assert "The first 5 of 10." in text


def test_a_group_shows_four_matches_and_unfolds_the_others(researcher, db):
    image = make_collection(images=1, captions_each=6).images.get()
    page = researcher.get(reverse("image", args=[image.pk]))
    shown, folded = page.text.split("2 more")
    assert (shown.count(">trail<"), folded.count(">trail<")) == (4, 2)
