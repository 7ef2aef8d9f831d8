import pytest
from django.db import IntegrityError, transaction

from annotation.models import Judgment
from annotation.work.disputes import disputed_pairs, top_up
from annotation.work.pair_status import status_of
from annotation.work.retirement import retire
from core.errors import CounterpartError
from core.models import Event
from corpus.models import Caption, Image
from dataset.models import Review
from dataset.reviews.cases import group_of, open_cases, queue_of
from dataset.reviews.reviews import Conclusion, conclude, latest_review, require_two_reviewers, second, undo
from hits.models import Control, TopUp
from hits.rounds.top_ups import plan_again
from tests.annotation.cast import answer, candidates
from tests.annotation.controlling import make_topped_up, vote
from tests.at_once import at_once
from tests.dataset.releasing import release
from tests.dataset.reviewing import (
    EXCLUDED,
    KEPT,
    LEVEL,
    another_person,
    exclude_caption,
    exclude_image,
    give_level,
    level_of,
)
from tests.factories import make_collection, make_round

pytestmark = pytest.mark.django_db


@pytest.fixture
def round():
    """Two candidates, judged 1 and 4."""
    made = make_round(candidates=2)
    answer(made.hits.get(), 1, 4)
    return made


@pytest.fixture
def collection(round):
    return round.pool.collection


@pytest.fixture
def pair(round):
    return candidates(round.hits.get())[0]


def test_an_invalid_conclusion_changes_nothing(collection, pair, person):
    caption = (None, pair[1])
    for subject, conclusion, message in (
        (caption, Conclusion(EXCLUDED, grounds="wrong"), "The reason is empty"),
        (caption, Conclusion(EXCLUDED, grounds="ugly", reason="So it is."), "Invalid grounds 'ugly'"),
        (caption, Conclusion(LEVEL, level=1), "a pair has a level"),
        (pair, Conclusion(LEVEL, level=5), "Invalid level 5"),
        (pair, Conclusion(EXCLUDED, grounds="wrong", reason="Wrong."), "A pair cannot be excluded"),
        (pair, Conclusion("perhaps"), "Invalid conclusion 'perhaps'"),
    ):
        with pytest.raises(CounterpartError, match=message):
            conclude(collection, [subject], conclusion, by=person)
    assert not Review.objects.exists()


def test_each_review_is_an_event_and_concluding_the_same_again_adds_nothing(round, pair, person):
    review = give_level(round, pair, 4, by=person)
    assert give_level(round, pair, 4, by=person, seen=0) == review
    assert review.reason == ""
    assert Review.objects.count() == 1
    event = Event.objects.get(verb="reviewed")
    assert (event.actor, event.subject, event.data["level"]) == ("robin", f"dataset.review:{review.pk}", 4)


def test_a_review_of_another_is_overruled_only_by_a_person_who_has_seen_it(round, collection, pair, person):
    give_level(round, pair, 4, by=another_person())
    with pytest.raises(CounterpartError, match="kim reviewed .*: level 4"):
        give_level(round, pair, 1, by=person, seen=0)
    assert level_of(collection, pair) == 4
    give_level(round, pair, 1, by=person, seen=latest_review([pair]))
    assert level_of(collection, pair) == 1


def test_undoing_a_review_once_or_twice_lets_the_votes_hold_or_the_review_before(round, collection, pair, person):
    review = give_level(round, pair, 4, by=person)
    undone = undo([review], by=person)
    assert [one.conclusion for one in undone] == [KEPT]
    assert undo([review], by=person) == undone
    assert Review.objects.count() == 2
    assert level_of(collection, pair) is None
    assert release(round).manifest["counts"]["judged_positive"] == 1
    give_level(round, pair, 3, by=person)
    undo([give_level(round, pair, 4, by=person)], by=person)
    assert level_of(collection, pair) == 3


def test_what_others_have_replaced_is_not_undone(round, collection, pair, person):
    review = give_level(round, pair, 4, by=person)
    give_level(round, pair, 2, by=another_person())
    with pytest.raises(CounterpartError, match="since: level 2"):
        undo([review], by=person)
    assert level_of(collection, pair) == 2


def test_what_is_excluded_leaves_the_controls(round, collection, person):
    positive, negative = (Control.objects.filter(polarity=polarity) for polarity in ("positive", "negative"))
    exclude_caption(collection, positive.get().caption_id, by=person)
    assert (positive.get().state, negative.get().state) == (Control.State.RETIRED, Control.State.ACTIVE)
    exclude_image(collection, negative.get().image_id, by=person)
    assert negative.get().state == Control.State.RETIRED


def test_what_is_excluded_is_marked_until_that_is_undone(round, collection, pair, person):
    review = exclude_image(collection, pair[0], by=person)
    assert list(Image.objects.exclude(excluded_at=None)) == [review.image]
    exclude_image(collection, pair[0], by=person)
    undo([review], by=person)
    assert not Image.objects.exclude(excluded_at=None).exists()
    undo(list(Review.objects.order_by("-pk")[:1]), by=person)
    assert list(Image.objects.exclude(excluded_at=None)) == [review.image]


def test_a_control_comes_back_when_nothing_that_it_shows_is_excluded_any_more(round, collection, person):
    control = Control.objects.get(polarity="positive")
    caption = exclude_caption(collection, control.caption_id, by=person)
    image = exclude_image(collection, control.image_id, by=person)
    for review, state in ((caption, "retired"), (image, "active")):
        undo([review], by=person)
        control.refresh_from_db()
        assert control.state == state
    assert list(control.rulings.values_list("retired", "by")) == [(True, "robin"), (False, "robin")]


def test_a_control_that_was_retired_for_another_reason_stays_retired(round, collection, person):
    control = Control.objects.get(polarity="positive")
    retire(control, reason="Good workers fail it.", actor="robin")
    undo([exclude_caption(collection, control.caption_id, by=person)], by=person)
    control.refresh_from_db()
    assert control.state == Control.State.RETIRED


def test_the_votes_of_a_pair_leave_with_its_caption_and_no_further_one_is_asked_for(person):
    made = make_topped_up()
    vote(made.hits.get(), 1), vote(made.hits.get(), 4)
    first, other = candidates(made.hits.get())
    review = exclude_caption(made.pool.collection, first[1], by=person)
    assert disputed_pairs(made) == [other]
    (why,) = status_of(made, *first).reasons
    assert "excluded the caption" in why
    undo([review], by=person)
    assert disputed_pairs(made) == [first, other]


def test_an_open_seat_of_an_excluded_pair_has_its_reason(person):
    made = make_round()
    image, caption = candidates(made.hits.get())[0]
    exclude_image(made.pool.collection, image, by=person)
    assert any("excluded the picture" in reason for reason in status_of(made, image, caption).reasons)


def test_a_top_up_without_what_was_excluded_is_packed_again(person):
    made = make_topped_up()
    vote(made.hits.get(), 1), vote(made.hits.get(), 4)
    unused = made.pool.collection.images.exclude(pk__in=made.hits.values("items__image")).last()
    review = exclude_image(made.pool.collection, unused.pk, by=person)
    assert top_up(made, actor="robin") == 1
    added = TopUp.objects.get()
    assert [unused.key, None] in added.avoided
    undo([review], by=person)
    assert plan_again(added).hash == added.plan_hash


# Two persons


@pytest.fixture
def two(collection):
    require_two_reviewers(collection, True, actor="robin")
    return collection


def test_a_review_holds_once_another_person_agrees(round, two, pair, person):
    assert not require_two_reviewers(two, True, actor="robin")  # it is required already
    assert Event.objects.filter(verb="two reviewers").count() == 1
    review = give_level(round, pair, 4, by=person)
    assert level_of(two, pair) is None
    second(review, by=another_person())
    assert level_of(two, pair) == 4


def test_concluding_the_same_is_agreeing(round, two, pair, person):
    give_level(round, pair, 4, by=person)
    review = give_level(round, pair, 4, by=another_person())
    assert (review.by, review.seconded_by.username) == (person, "kim")
    assert level_of(two, pair) == 4


def test_no_reviewer_agrees_with_themselves(round, two, pair, person):
    review = give_level(round, pair, 4, by=person)
    give_level(round, pair, 4, by=person)
    with pytest.raises(CounterpartError, match="another person has to agree"):
        second(review, by=person)
    assert level_of(two, pair) is None
    with pytest.raises(IntegrityError), transaction.atomic():
        Review.objects.filter(pk=review.pk).update(seconded_by=person)


def test_withdrawing_a_review_that_waits_needs_no_other_person(round, two, pair, person):
    review = give_level(round, pair, 4, by=person)
    (withdrawn,) = undo([review], by=person)
    assert not withdrawn.needs_second
    replaced = give_level(round, pair, 4, by=person)
    give_level(round, pair, 1, by=person)
    for waits_no_more in (review, replaced):
        with pytest.raises(CounterpartError, match="does not wait"):
            second(waits_no_more, by=another_person(f"kim {waits_no_more.pk}"))


def test_what_is_excluded_is_marked_leaves_controls_and_is_freed_once_another_person_agrees(collection, two, person):
    control = Control.objects.get(polarity="positive")
    review = exclude_caption(collection, control.caption_id, by=person)
    assert not Caption.objects.exclude(excluded_at=None).exists()
    control.refresh_from_db()
    assert control.state == Control.State.ACTIVE
    kim = another_person()
    second(review, by=kim)
    assert Caption.objects.exclude(excluded_at=None).get().pk == control.caption_id
    control.refresh_from_db()
    assert control.state == Control.State.RETIRED
    (undone,) = undo([Review.objects.get(pk=review.pk)], by=person)
    assert Caption.objects.exclude(excluded_at=None).exists()
    second(undone, by=kim)
    assert not Caption.objects.exclude(excluded_at=None).exists()


def test_undoing_a_review_that_holds_needs_a_second_person_too_and_keeping_none(round, two, pair, person):
    review = second(give_level(round, pair, 4, by=person), by=another_person())
    (undone,) = undo([review], by=person)
    assert level_of(two, pair) == 4
    second(undone, by=another_person("lee"))
    assert level_of(two, pair) is None
    (kept,) = conclude(two, [candidates(round.hits.get())[1]], Conclusion(KEPT), by=person)
    assert not kept.needs_second


# Groups


def test_who_agrees_to_an_undo_leaves_the_case_waiting(round, collection, pair, person):
    require_two_reviewers(collection, True, actor="robin")
    other = another_person()
    open_cases(collection, "reported", {pair: "odd"})
    (made,) = conclude(collection, [pair], Conclusion(LEVEL, level=2), by=person)
    second(made, by=other)
    assert queue_of(collection).count() == 0
    (undone,) = undo([made], by=person)
    second(undone, by=other)
    assert queue_of(collection).count() == 1


def test_a_group_is_decided_by_one_act_with_a_review_each(round, collection, pair, person):
    image, caption = collection.images.get(pk=pair[0]), collection.captions.get(pk=pair[1])
    twin = candidates(round.hits.get())[1]
    collection.captions.filter(pk=twin[1]).update(text=f"The {caption.text.upper()}!")
    collection.images.filter(pk__in=[pair[0], twin[0]]).update(look="00ff00ff00ff00ff")
    image.refresh_from_db()
    group = group_of(image, caption)
    assert group == [pair, twin]
    conclude(collection, group, Conclusion(LEVEL, level=3), by=person)
    assert [level_of(collection, one) for one in group] == [3, 3]
    assert Event.objects.filter(verb="reviewed").count() == 2


def test_a_caption_that_was_written_for_the_picture_is_not_in_the_group(round, collection, pair):
    written = Judgment.objects.filter(image=pair[0])
    assert written.update(caption=None, text="A sentence.")
    assert group_of(collection.images.get(pk=pair[0]), collection.captions.get(pk=pair[1])) == [pair]


def test_other_pictures_and_other_wordings_are_not_in_the_group(round, collection, pair):
    collection.images.update(look="00ff00ff00ff00ff")
    image, caption = collection.images.get(pk=pair[0]), collection.captions.get(pk=pair[1])
    assert group_of(image, caption) == [pair]
    collection.captions.update(text=caption.text)
    collection.images.exclude(pk=image.pk).update(look="ff00ff00ff00ff00")
    assert group_of(image, caption) == [pair]


# At once


@pytest.mark.django_db(transaction=True)
def test_a_double_click_writes_one_review(person):
    made = make_round(make_collection(images=6), candidates=2)
    pair = candidates(made.hits.get())[0]
    at_once(*[lambda: give_level(made, pair, 4, by=person, seen=0)] * 2)
    assert Review.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_reviewers_at_once_the_second_sees_the_first(person):
    made = make_round(make_collection(images=6), candidates=2)
    pair, kim = candidates(made.hits.get())[0], another_person()

    def give(level, by):
        try:
            return give_level(made, pair, level, by=by, seen=0)
        except CounterpartError as error:
            return str(error)

    outcomes = at_once(lambda: give(1, person), lambda: give(4, kim))
    assert Review.objects.count() == 1
    assert sum("while you looked at it" in str(one) for one in outcomes) == 1
