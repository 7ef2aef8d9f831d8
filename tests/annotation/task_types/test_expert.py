"""Grades of experts: 4 is the best on the sheet, level 1 is the best in the database, and nothing mixes them up."""

import re

import pytest

from annotation.models import Assignment
from corpus.models import Match
from dataset.models import Verdict
from dataset.verdicts import aggregate_round
from hits.models import Round
from hits.task_types.expert import EXPERT
from tests.annotation.answering import address, as_form, leased, right_answers
from tests.annotation.task_types.rounds import vote_on_first
from tests.dataset.releasing import release_version
from tests.factories import make_round


def make_graded(**options: object) -> Round:
    made = make_round(replication=3, **options)
    made.task, made.wording = "expert", EXPERT.latest_wording
    made.save()
    return made


@pytest.mark.parametrize(
    ("grades", "mean", "level"),
    [((4, 4, 4), 4, 1), ((4, 3, 3), 10 / 3, 2), ((4, 1, 1), 2, 4)],
)
def test_the_score_is_the_mean_grade_and_the_level_runs_the_other_way(db, commit, grades, mean, level):
    made = make_graded()
    with commit(execute=True):
        item = vote_on_first(made, *(5 - grade for grade in grades))
    figures = aggregate_round(made)
    verdict = Verdict.objects.get(image=item.image, caption=item.caption)
    assert verdict.score == pytest.approx(mean)
    assert verdict.level == level
    other = 4  # the other candidate has level 1 from all
    assert figures["mean grade"] == pytest.approx((mean + other) / 2, abs=1e-3)


def test_a_control_is_right_by_what_its_grade_means(stranger, db, commit):
    """Grade 4 for a positive and grade 1 for a negative: levels 1 and 4."""
    assignment = leased(make_graded())
    page = stranger.get(address("task", assignment)).text
    keys = re.findall(r'name="level-1" value="(\d)" data-key="(\d)"', page)
    assert keys[:4] == [("1", "4"), ("2", "3"), ("3", "2"), ("4", "1")]
    with commit(execute=True):
        stranger.post(address("task", assignment), as_form(assignment, right_answers(assignment)))
    assert Assignment.objects.get().state == "accepted"


def test_a_release_has_the_pairs_of_good_grades(db, commit):
    made = make_graded()
    with commit(execute=True):
        item = vote_on_first(made, 2, 2, 1)
    release_version("v1", collection=made.pool.collection, sample=made.pool.sample, rounds=[made], partial=True)
    found = Match.objects.get(source="v1", image=item.image, caption=item.caption)
    assert (found.grade, found.score) == (2, 1)
