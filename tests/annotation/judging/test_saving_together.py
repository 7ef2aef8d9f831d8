"""Drafts that one request saves together, without a browser."""

from datetime import timedelta
from time import time
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Assignment, Draft, Report
from tests.annotation.answering import address, levels_by_place, shown


def save(assignment: Assignment, *forms: dict[str, object]) -> dict[str, str]:
    """Save the drafts together. Returns the errors by their numbers."""
    return Client().post(address("draft", assignment), {"saving": [urlencode(one) for one in forms]}).json()["errors"]


def given(place: int, level: object, seconds_ago: float = 0) -> dict[str, object]:
    """An answer as the page saves it, given some time ago."""
    return {"place": place, f"level-{place}": level, "at": int(1000 * (time() - seconds_ago))}


def drafted() -> dict[int, int]:
    return levels_by_place(Draft.objects.all())


def test_one_request_saves_many_drafts_and_a_repeated_one_changes_nothing(assignment):
    for _ in range(2):
        report = {"place": 2, "problem-2": "text"}
        assert save(assignment, given(1, 4), given(3, 2), report, given(2, 1)) == {}
        assert (drafted(), Report.objects.count()) == ({1: 4, 2: 1, 3: 2}, 1)


def test_a_draft_that_is_refused_among_others_is_named_by_its_number_and_keeps_none_out(assignment):
    errors = save(assignment, given(1, 8), given(9, 1), given(2, 3), given(3, "x"), {"place": 4, "level-7": 1})
    assert (errors.keys(), drafted()) == ({"0", "1", "3", "4"}, {2: 3})
    assert "choose one of the 4 answers" in errors["0"]


def test_the_newest_answer_stays_whichever_arrives_first(assignment):
    save(assignment, given(1, 3, seconds_ago=5), given(2, 3, seconds_ago=5))
    save(assignment, given(1, 1, seconds_ago=9), given(2, "", seconds_ago=9), given(3, 2, seconds_ago=9))
    assert drafted() == {1: 3, 2: 3, 3: 2}
    save(assignment, given(1, 4), given(2, ""))
    assert drafted() == {1: 4, 3: 2}


def test_of_two_answers_to_a_pair_in_one_request_the_newer_is_saved(assignment):
    save(assignment, given(1, 2), given(1, 3, seconds_ago=2))
    assert drafted() == {1: 2}


@pytest.mark.parametrize("at", ["99999999999999", "-5", "x", ""])
def test_a_time_that_cannot_be_counts_as_now(assignment, at):
    save(assignment, given(1, 2) | {"at": at})
    assert abs(Draft.objects.get().saved_at - timezone.now()) < timedelta(seconds=30)


def seconds() -> list[int | None]:
    return [Draft.objects.get(item=item).seconds for item in shown(Assignment.objects.get())[:2]]


def test_the_seconds_of_drafts_saved_together_are_believed_as_those_of_one(assignment):
    Assignment.objects.update(leased_at=timezone.now() - timedelta(seconds=120))
    save(assignment, given(1, 2) | {"seconds-1": 50}, given(2, 2) | {"seconds-2": 60})
    assert seconds() == [50, 60]
    save(assignment, given(1, 2) | {"seconds-1": 70}, given(2, 2) | {"seconds-2": 60})
    assert seconds() == [None, None]
