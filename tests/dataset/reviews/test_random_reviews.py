"""Verdicts that a reviewer checks in the order of the round's draw."""

import numpy as np
import pytest

from core import clock
from dataset.judged.verdict_files import verdict_tables
from dataset.models import Review, Verdict
from dataset.reviews.random_reviews import drawn_verdicts, first_drawn, random_reviews
from dataset.verdicts import aggregate_round
from dataset.versions.review_rows import Reviewed, draw_numbers, random_prefix, review_rows
from tests.annotation.cast import answer
from tests.factories import make_collection, make_round


@pytest.fixture
def judged(db):
    """A round of eight pairs with one vote each: match and no match by turns."""
    made = make_round(make_collection(images=12), candidates=8, replication=2)
    answer(made.hits.get(), *([1, 4] * 4))
    aggregate_round(made)
    return made


def check(judged, drawn, level: int | None, django_user_model, **more) -> Review:
    by, _ = django_user_model.objects.get_or_create(username="rae")
    return Review.objects.create(
        collection=judged.pool.collection,
        image_id=drawn.image,
        caption_id=drawn.caption,
        conclusion="level" if level else "kept",
        level=level,
        by=by,
        **more,
    )


def test_the_reviewed_verdicts_at_the_beginning_of_the_draw_are_the_sample(judged, django_user_model):
    aggregation = judged.aggregations.get()
    draw = drawn_verdicts(aggregation)
    assert {(one.image, one.caption) for one in draw} == set(Verdict.objects.values_list("image", "caption"))
    for place, right in ((0, True), (1, False), (3, True)):  # not the third
        level = 1 if draw[place].is_match == right else 4
        check(judged, draw[place], level, django_user_model)
    check(judged, draw[2], None, django_user_model)  # who keeps a pair does not say what it is
    found = random_reviews(aggregation)
    assert (found.verdicts, found.right) == (draw[:2], [True, False])
    assert found.following == [draw[2], *draw[4:]]


def test_a_review_that_waits_for_a_second_person_is_no_check_and_excluded_pictures_are_passed_over(
    judged, django_user_model
):
    aggregation = judged.aggregations.get()
    draw = drawn_verdicts(aggregation)
    check(judged, draw[0], 1, django_user_model, needs_second=True)
    assert random_reviews(aggregation).verdicts == []
    judged.pool.collection.images.filter(pk=draw[0].image).update(excluded_at=clock.now())
    kept = [one for one in draw if one.image != draw[0].image]
    check(judged, kept[0], 1, django_user_model)
    assert random_reviews(aggregation).verdicts == kept[:1]


def test_further_votes_and_verdicts_in_a_file_leave_the_draw_as_it_is(judged, monkeypatch):
    before = drawn_verdicts(judged.aggregations.get())
    answer(judged.hits.get(), *[1] * 8, seat=2)
    monkeypatch.setattr("dataset.verdicts.LARGE", 3)
    aggregate_round(judged)
    after = drawn_verdicts(judged.aggregations.get())
    assert [one[:2] for one in after] == [one[:2] for one in before]
    assert [one.votes for one in after] == [2] * 8
    assert first_drawn(judged.aggregations.get(), 3, seed=judged.seed, votes=1) == []
    assert first_drawn(judged.aggregations.get(), 3, seed=judged.seed, votes=2) == after[:3]


def test_the_draw_is_even_over_pairs_and_differs_by_seed():
    images, captions = (part.ravel().astype(str) for part in np.mgrid[:300, :400])
    numbers = draw_numbers(7, images, captions)
    assert len(np.unique(numbers)) == numbers.size
    first = (numbers < np.iinfo(np.uint64).max // 4).reshape(300, 400)
    assert first.mean() == pytest.approx(0.25, abs=0.01)
    assert (first.mean(axis=0).std(), first.mean(axis=1).std()) == pytest.approx((0.025, 0.022), abs=0.004)
    other = draw_numbers(8, images, captions)
    assert np.corrcoef(numbers.argsort(), other.argsort())[0, 1] == pytest.approx(0, abs=0.02)


def test_a_release_has_the_checked_verdicts_of_the_site(judged, django_user_model):
    aggregation = judged.aggregations.get()
    for drawn in drawn_verdicts(aggregation)[:3]:
        check(judged, drawn, 2, django_user_model)
    (part,) = verdict_tables(aggregation)
    reviewed = Reviewed.of(review_rows(judged.pool.collection))
    in_parts = [(part[n : n + 3]["image"], part[n : n + 3]["caption"]) for n in (0, 3, 6)]
    found = random_prefix(in_parts, judged.seed, reviewed)
    keys = [
        tuple(Verdict.objects.values_list("image__key", "caption__key").get(image=one.image))
        for one in drawn_verdicts(aggregation)
    ]
    assert list(found.items()) == [(pair, True) for pair in keys[:3]]
    del reviewed.levels[keys[1]]
    assert list(random_prefix(in_parts, judged.seed, reviewed)) == keys[:1]
    passed = Reviewed(reviewed.levels, images=frozenset({keys[1][0]}))
    assert list(random_prefix(in_parts, judged.seed, passed)) == [keys[0], keys[2]]
    assert random_prefix(in_parts, judged.seed, Reviewed()) == {}
