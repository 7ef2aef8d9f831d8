"""Active seconds of each pair: sent with drafts and submissions, believed only as far as time has passed."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Assignment, Draft, Judgment
from annotation.work.answers import places_of
from annotation.work.submissions import submit_answers
from crowd.visits.intake import take_in
from tests.annotation.answering import address, leased, right_answers, submit
from tests.crowd.framing import claimed, confirm
from tests.factories import make_round


@pytest.fixture
def assignment(db) -> Assignment:
    """A HIT of 4 pairs, leased two minutes ago."""
    made = leased(make_round())
    Assignment.objects.update(leased_at=timezone.now() - timedelta(seconds=120))
    return made


def seconds_by_place(rows) -> dict[int, int | None]:
    place_of = {item: place for place, item in places_of(Assignment.objects.get()).items()}
    return {place_of[row.item_id]: row.seconds for row in rows}


def draft(assignment, place, **fields):
    return Client().post(address("draft", assignment), {"place": place, f"level-{place}": "1", **fields})


def test_a_submission_stores_the_seconds_of_each_pair(client, assignment):
    submit(client, assignment, **{"seconds-1": "7", "seconds-2": "0", "seconds-3": "11", "active_seconds": "20"})
    assert seconds_by_place(Judgment.objects.all()) == {1: 7, 2: 0, 3: 11, 4: None}
    assert Assignment.objects.get().active_seconds == 20


@pytest.mark.parametrize("sent", ["-1", "9" * 30, "", "²"])
def test_a_bad_number_keeps_no_answer_out(client, assignment, sent):
    assert submit(client, assignment, **{"seconds-1": sent, "seconds-2": "5"}).status_code == 302
    assert seconds_by_place(Judgment.objects.all()) == {1: None, 2: 5, 3: None, 4: None}


def test_seconds_that_make_more_than_have_passed_are_not_believed(client, assignment):
    submit(client, assignment, **{"seconds-1": "100", "seconds-2": "100", "active_seconds": "30"})
    assert set(Judgment.objects.values_list("seconds", flat=True)) == {None}
    assert Assignment.objects.get().active_seconds == 30


def test_the_whole_is_at_least_the_sum_of_its_parts(client, assignment):
    """As where another device counted the first pairs."""
    submit(client, assignment, **{"seconds-1": "30", "seconds-2": "40", "active_seconds": "50"})
    assert Assignment.objects.get().active_seconds == 70


def test_a_draft_keeps_the_seconds_and_the_page_shows_them(client, assignment):
    assert draft(assignment, 2, **{"seconds-2": "9"}).status_code == 200
    assert Draft.objects.get().seconds == 9
    page = client.get(address("task", assignment)).text
    assert 'name="seconds-2" value="9"' in page
    assert 'name="seconds-1" value=""' in page


def test_a_draft_with_more_seconds_than_have_passed_is_saved_without_them(client, assignment):
    assert draft(assignment, 2, **{"seconds-2": "500"}).status_code == 200
    assert (Draft.objects.get().level, Draft.objects.get().seconds) == (1, None)


def test_seconds_of_an_earlier_turn_at_the_hit_are_not_counted_in_the_next(client, assignment):
    draft(assignment, 2, **{"seconds-2": "9"})
    Assignment.objects.update(state="expired")
    again = leased(assignment.hit.round, worker=assignment.worker)
    page = client.get(address("task", again)).text
    assert 'value="9"' not in page


def test_on_a_platform_the_drafts_carry_them_to_the_judgments(db, platform):
    claim = claimed()
    answers = [replace(answer, seconds=3) for answer in right_answers(claim)]
    submit_answers(claim, answers=answers, active_seconds=20)
    confirm(claim)
    take_in(claim.pk)
    assert set(Judgment.objects.values_list("seconds", flat=True)) == {3}
