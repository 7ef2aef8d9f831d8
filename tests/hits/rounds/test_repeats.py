"""A design that asks pairs twice: how it is packed, shown and answered, and what does not count it."""

import pytest
from django.urls import reverse

from annotation.judging.links import assignment_token
from annotation.models import Assignment, Judgment
from annotation.work.answers import Answer, places_of
from annotation.work.leases import lease_seat
from annotation.work.submissions import submit_answers
from core.errors import CounterpartError
from dataset.judged.released_rows import judgment_rows
from dataset.releases.packing_replay import check_packing
from hits.models import Item, Round
from hits.packing.designs import Design, parse_design
from tests.annotation.answering import SURE, as_form
from tests.factories import make_worker
from tests.hits.pools import opened, pack, pool_of

TWICE = Design("twice", candidates=6, positives=1, negatives=1, repeats=2)


@pytest.fixture
def asked_twice(db) -> Round:
    """Four HITs of eight pairs, two of which are asked again."""
    return opened(pack("r", pool_of(24), design=TWICE))


def answered(assignment: Assignment, *, again: int | None = None) -> list[Answer]:
    """Level 2 for candidates, the right levels for controls; ``again`` for what is asked again."""
    items = Item.shown.filter(hit=assignment.hit).select_related("control")
    return [
        Answer(one.pk, again if one.repeat_of_id and again else SURE[one.control.polarity] if one.control else 2)
        for one in items
    ]


@pytest.mark.parametrize(("repeats", "message"), [(7, "repeats 7 of 6 candidates"), (-1, "whole numbers from 0")])
def test_an_impossible_number_of_repeats_is_refused(repeats, message):
    with pytest.raises(CounterpartError, match=message):
        parse_design({**TWICE.as_json(), "repeats": repeats})


def test_two_candidates_of_each_hit_are_asked_again(asked_twice):
    for hit in asked_twice.hits.all():
        again = Item.shown.filter(hit=hit).exclude(repeat_of=None)
        assert again.count() == 2
        for item in again:
            assert item.repeat_of.control is None
            assert (item.image_id, item.caption_id) == (item.repeat_of.image_id, item.repeat_of.caption_id)
        assert hit.items.count() == 8, "nothing else counts them"
    assert asked_twice.summary["pairs"] == 24


def test_the_plan_is_packed_again_without_what_is_asked_twice(asked_twice):
    assert check_packing(asked_twice, {"plan_hash": asked_twice.plan_hash, "top_ups": []}).problems == []


def test_the_page_shows_a_pair_and_its_repetition_half_a_hit_apart(client, asked_twice):
    assignment = lease_seat(asked_twice, worker=make_worker())
    places = {item: place for place, item in places_of(assignment).items()}
    assert sorted(places.values()) == list(range(1, 11))
    for item in Item.shown.filter(hit=assignment.hit).exclude(repeat_of=None):
        assert 4 <= abs(places[item.pk] - places[item.repeat_of_id]) <= 6
    page = client.get(reverse("judging:task", args=[assignment_token(assignment)])).text
    assert page.count('name="seconds-') == 10


def test_the_second_answer_is_kept_and_is_not_a_vote(client, asked_twice, django_capture_on_commit_callbacks):
    assignment = lease_seat(asked_twice, worker=make_worker())
    address = reverse("judging:task", args=[assignment_token(assignment)])
    form = as_form(assignment, answered(assignment, again=1))
    missing = {name: value for name, value in form.items() if name != "level-10"}
    assert "no answer yet: 10" in client.post(address, missing).text
    with django_capture_on_commit_callbacks(execute=True):
        assert client.post(address, form).status_code == 302
    assignment.refresh_from_db()
    assert (Judgment.objects.count(), assignment.state) == (8, "accepted")
    assert sorted(assignment.repeats) == [
        [one.pk, one.repeat_of_id, 1] for one in Item.shown.filter(hit=assignment.hit).exclude(repeat_of=None)
    ]
    assert not assignment.drafts.exists()


def test_a_released_answer_has_the_position_that_its_page_had(asked_twice):
    assignment = lease_seat(asked_twice, worker=make_worker())
    submit_answers(assignment, answers=answered(assignment), active_seconds=60)
    places = {item: place for place, item in places_of(assignment).items()}
    rows = {(row.image, row.caption): row.position for row in judgment_rows([asked_twice], key="secret")}
    assert len(rows) == 8
    for item in assignment.hit.items.select_related("image", "caption"):
        assert rows[item.image.key, item.caption.key] == places[item.pk]


def test_who_contradicts_themselves_is_flagged(asked_twice, django_capture_on_commit_callbacks):
    assignment = lease_seat(asked_twice, worker=make_worker())
    with django_capture_on_commit_callbacks(execute=True):
        submit_answers(assignment, answers=answered(assignment, again=4), active_seconds=200)
    (found,) = Assignment.objects.get().signals
    assert found["sentence"] == "2 of 2 pairs that were asked twice were answered yes once and no once."
