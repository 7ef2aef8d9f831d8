"""Practice: the pairs of a test, and which answers were right. Nothing of it is stored."""

import re

import pytest
from django.utils.html import strip_tags

from annotation.models import Admission, Draft, Participant, TestAttempt
from annotation.people.admission import make_admission, pairs_seen
from annotation.people.best_levels import Best, set_best
from annotation.people.qualification_tests import QualificationPlan, make_test
from annotation.work.leases import lease_seat
from core.errors import CounterpartError
from core.models import Event
from crowd.posting.publication import publish_round
from hits.models import Item, Round
from hits.task_types.levels import LEVELS
from tests.annotation.answering import home_of
from tests.factories import make_collection, make_round, make_worker


@pytest.fixture
def with_practice(db) -> Round:
    """A round that offers a practice of three pairs."""
    with_practice = make_round(hits=3)
    practice = make_test("easy", collection=with_practice.pool.collection, plan=QualificationPlan(2, 1, 3), actor="x")
    Admission.objects.create(round=with_practice, practice=practice)
    return with_practice


@pytest.fixture
def page(with_practice) -> str:
    return home_of(make_worker(), with_practice) + "practice/"


def answers(made: Round, *, positive: int = 1, negative: int = 4) -> dict[str, str]:
    levels = {"positive": positive, "negative": negative}
    rows = made.admission.practice.items.values_list("place", "polarity")
    return {f"level-{place}": str(levels[polarity]) for place, polarity in rows}


def test_a_round_without_practice_and_test_offers_none(db, stranger):
    home = home_of(make_worker(), make_round())
    assert "Practise" not in stranger.get(home).text
    for page in ("practice/", "test/"):
        assert stranger.get(home + page).status_code == 404


def test_the_feedback_says_of_each_pair_whether_it_was_right(with_practice, page, stranger):
    shown = stranger.post(page, answers(with_practice, positive=2, negative=1)).text
    assert "2 of 3 right" in shown
    assert (shown.count("✓"), shown.count("✗")) == (2, 1)


@pytest.mark.parametrize(("polarity", "mark", "right"), [("positive", "✓", {1, 2}), ("negative", "✗", {3, 4})])
def test_an_answer_is_explained_by_the_right_ones(with_practice, page, stranger, polarity, mark, right):
    place = with_practice.admission.practice.items.filter(polarity=polarity).first().place
    shown = stranger.get(f"{page}{place}/?level=2").text
    assert mark in shown
    assert {int(level) for level in re.findall(r'data-level="(\d)"', shown)} == right
    texts = {level["value"]: level["text"] for level in LEVELS.choices(LEVELS.latest_wording)}
    assert all(texts[level] in shown for level in right | {2})


def test_the_level_that_fits_best_is_shown_with_its_reason_and_the_other_still_counts(with_practice, page, stranger):
    practice = with_practice.admission.practice
    place = practice.items.get(polarity="negative").place
    set_best(practice, {place: Best(4, "There is no dog.")}, actor="x")
    best, other = (strip_tags(stranger.get(f"{page}{place}/?level={level}").text) for level in (4, 3))
    assert ("✓" in best, "There is no dog." in best, "“100% NO” fits best" in best) == (True, True, False)
    assert ("✓" in other, "“100% NO” fits best" in other) == (True, True)
    assert "3 of 3 right" in stranger.post(page, answers(with_practice, negative=3)).text


def test_only_the_round_s_own_practice_explains_and_only_its_answers(with_practice, page, stranger):
    assert stranger.get(f"{page}1/?level=7").status_code == 422
    assert stranger.get(f"{page}1/").status_code == 422
    assert stranger.get(f"{page}99/?level=1").status_code == 404
    assert stranger.post(f"{page}1/?level=1").status_code == 405
    other = home_of(make_worker(), make_round(make_collection("other"), name="other"))
    assert stranger.get(f"{other}practice/1/?level=1").status_code == 404


def test_practice_stores_nothing_and_can_be_repeated(with_practice, page, stranger):
    events = Event.objects.count()
    for _ in range(2):
        assert stranger.post(page, answers(with_practice)).status_code == 200
    assert not TestAttempt.objects.exists()
    assert not Draft.objects.exists()
    assert Event.objects.count() == events


def test_a_pair_without_an_answer_is_named_and_the_others_are_kept(with_practice, page, stranger):
    sent = answers(with_practice)
    del sent["level-2"]
    refused = stranger.post(page, sent)
    assert refused.status_code == 422
    assert "No answer yet for pair 2" in refused.text
    assert refused.text.count(" checked") == 2


def test_the_page_shows_no_right_answer_before_it_is_sent(with_practice, page, stranger):
    assert not re.search("positive|negative|polarity", stranger.get(page).text)


def test_its_pictures_open_with_links_of_their_own(with_practice, page, stranger):
    address = re.search(r'(/judge/practice-picture/[^"]+/1/)\?', stranger.get(page).text)[1]
    assert stranger.get(address).headers["Content-Type"] == "image/jpeg"
    forged = address.replace("/judge/practice-picture/", "/judge/test-picture/")
    assert stranger.get(forged).status_code == 404


def test_a_pair_of_the_practice_is_not_judged_in_a_hit_by_those_who_joined(with_practice):
    worker = make_worker()
    item = Item.objects.filter(hit__round=with_practice).first()
    with_practice.admission.practice.items.filter(place=1).update(image=item.image, caption=item.caption)
    assert (item.image_id, item.caption_id) not in pairs_seen(worker)
    Participant.objects.create(round=with_practice, worker=worker)
    assert (item.image_id, item.caption_id) in pairs_seen(worker)
    assert lease_seat(with_practice, worker=worker).hit_id != item.hit_id


def test_a_practice_that_shows_answers_of_the_test_is_refused(with_practice):
    same = make_test("same", collection=with_practice.pool.collection, plan=QualificationPlan(2, 1, 3), actor="x")
    with pytest.raises(CounterpartError, match="3 items of the test same"):
        make_admission(test=same, practice=with_practice.admission.practice)


@pytest.mark.parametrize("use", ["test", "practice"])
def test_a_round_that_asks_for_pairs_of_its_test_is_not_published(db, use):
    draft = make_round(published=False)
    shown = make_test("shown", collection=draft.pool.collection, plan=QualificationPlan(2, 1, 3), actor="x")
    item = Item.objects.filter(hit__round=draft).first()
    shown.items.filter(place=1).update(image=item.image, caption=item.caption)
    with pytest.raises(CounterpartError, match="1 pair of the test shown"):
        publish_round(draft, channel="browser", admission=make_admission(**{use: shown}), actor="x")
    draft.refresh_from_db()
    assert draft.state == "draft"
