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
def made():
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
def test_an_image_shows_its_own_captions_and_those_that_people_judged(researcher, made, place, title):
    item = made.hits.get().items.get(place=place)
    pair = (item.image_id, item.caption_id)
    assert groups(researcher, item.image) == {"Original": originals(item.image), title: {pair}}
    assert groups(researcher, item.caption)[title] == {pair}


def test_a_review_holds_over_the_verdict_once_it_is_settled(researcher, made):
    item = made.hits.get().items.first()
    collection, person = made.pool.collection, User.objects.create_user("one")
    conclude(collection, [(item.image_id, item.caption_id)], Conclusion("level", 4), by=person)
    assert "Rejected: 100% NO" in groups(researcher, item.image)
    conclude(collection, [(item.image_id, item.caption_id)], Conclusion("kept"), by=person)
    assert "Verified: 100% YES" in groups(researcher, item.image)


def test_a_review_that_waits_for_a_second_person_does_not_hold(researcher, made):
    item = made.hits.get().items.first()
    made.pool.collection.two_reviewers = True
    made.pool.collection.save()
    person = User.objects.create_user("one")
    conclude(made.pool.collection, [(item.image_id, item.caption_id)], Conclusion("level", 4), by=person)
    assert "Verified: 100% YES" in groups(researcher, item.image)


def test_what_only_another_source_knows_is_apart_with_its_score(researcher, made):
    collection = made.pool.collection
    image, caption = collection.images.last(), collection.captions.first()
    associate(collection, "cxc", [(image.pk, caption.pk)], score=3.4)
    assert groups(researcher, caption)["Not judged, known from other sources"] == {(image.pk, caption.pk)}
    assert "cxc 3.4" in researcher.get(reverse("caption", args=[caption.pk])).content.decode()


def test_a_level_that_a_source_gives_is_not_called_verified(researcher, made):
    collection = made.pool.collection
    image, caption = collection.images.last(), collection.captions.first()
    associate(collection, "truth", [(image.pk, caption.pk)])
    Match.objects.filter(source="truth").update(grade=4)
    assert groups(researcher, caption)["Not judged, known from other sources"] == {(image.pk, caption.pk)}
    assert "100% NO" in researcher.get(reverse("caption", args=[caption.pk])).text


def test_a_rank_in_the_pools_of_several_rounds_is_told_once(researcher, made):
    pair, clip = candidates(made.hits.get())[1], make_annotator("clip")
    for one in (made, make_round(made.pool.collection, "later")):
        propose(one, [pair], clip)
    assert researcher.get(reverse("image", args=[pair[0]])).text.count("clip #1 of captions") == 1


def test_each_match_tells_its_trail_and_leads_to_its_pair(researcher, made):
    pair = candidates(made.hits.get())[1]
    propose(made, [pair], make_annotator("clip"))
    text = researcher.get(reverse("image", args=[pair[0]])).text
    assert "clip #1 of captions · round-1: Partially YES → Partially YES ·" in words_of(text)
    assert text.count('<span class="level" data-level="2">Partially YES</span>') == 2
    assert reverse("pair", args=pair) in text
    assert reverse("caption", args=[pair[1]]) in text


def test_votes_of_several_rounds_stand_apart_with_the_verdict_of_each(researcher, made):
    pair = candidates(made.hits.get())[1]
    later = make_round(made.pool.collection, "later", candidates=4)
    answer(later.hits.get(), 3, 3, 3, 3)
    assert pair in candidates(later.hits.get())
    text = words_of(researcher.get(reverse("image", args=[pair[0]])).text)
    assert "round-1: Partially YES → Partially YES · later: Mostly NO not counted yet ·" in text
    table = researcher.get(reverse("pairs", args=["pool", made.pool.name])).content.decode()
    assert '<span class="soft small">later</span>' not in table


def test_captions_are_escaped(researcher, made):
    Caption.objects.update(text="<b>bold</b>")
    for query in (made.hits.get().items.first().image, made.hits.get().items.first().caption):
        text = researcher.get(reverse(query._meta.model_name, args=[query.pk])).content.decode()
        assert "<b>bold" not in text
        assert "&lt;b&gt;bold" in text


def test_a_query_without_matches_says_how_to_find_some(researcher, made):
    Match.objects.all().delete()
    image = made.pool.collection.images.last()
    assert "A round finds its matches" in researcher.get(reverse("image", args=[image.pk])).content.decode()


def test_a_query_asks_no_more_for_more_matches_and_shows_the_first(researcher, made, monkeypatch):
    monkeypatch.setattr("console.collections.query_sheets.MOST", 5)
    image = made.pool.collection.images.first()
    url = reverse("image", args=[image.pk])
    researcher.get(url)
    with CaptureQueriesContext(connection) as few:
        researcher.get(url)
    aggregation = made.aggregations.get()
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
    (group,) = page.context["groups"]
    assert (len(group.first), len(group.rest)) == (4, 2)
    assert "2 more" in words_of(page.text)
