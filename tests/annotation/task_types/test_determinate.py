"""Captions alone: is it determinate? No image, no control, no verdict on a pair."""

import re
from collections import Counter

import pytest
from django.core.management import CommandError
from django.db import IntegrityError, transaction

from annotation.models import Assignment, Decision, Judgment
from core.errors import CounterpartError
from corpus.models import Match
from dataset.models import Verdict
from dataset.outside_judgments.judgment_import import import_judgments
from dataset.verdicts import aggregate_round
from hits.models import Control, Item, Round, Seat
from hits.task_types.levels import EXPERT
from tests.annotation.answering import address, as_form, leased, right_answers
from tests.annotation.task_types.rounds import make_asked, vote_on_first
from tests.dataset.releasing import release_version
from tests.evaluation.analysing import analyse, figures_of
from tests.factories import make_assignment, make_round, make_worker
from tests.hits.pools import mirror_of, pack, pool_of


@pytest.fixture(scope="module")
def checked(lasting) -> Round:
    """25 captions in two HITs, each wanted three times."""
    return make_asked()


def test_every_caption_of_the_pool_is_asked_once_without_an_image_or_a_control(db, checked):
    asked = Counter(Item.objects.filter(hit__round=checked).values_list("caption", flat=True))
    assert set(asked) == set(checked.pool.proposals.values_list("caption", flat=True))
    assert set(asked.values()) == {1}
    assert not Item.objects.exclude(image=None).exists()
    assert not Control.objects.exists()
    sizes = [hit.items.count() for hit in checked.hits.all()]
    assert sizes == [20, len(asked) - 20]
    assert Seat.objects.filter(hit__round=checked).count() == 6
    assert "excluded_pairs" not in checked.summary
    counts = [checked.summary[name] for name in ("pairs", "topped_up", "shared_images")]
    assert counts == [len(asked), 0, 0]


def test_the_plan_is_the_same_in_another_database_and_the_seed_changes_it(db):
    pool = pool_of(25)
    hashes = [
        pack(name, one, task="determinate", seed=seed).plan_hash
        for name, one, seed in (("here", pool, 1), ("there", mirror_of(pool), 1), ("other", pool, 2))
    ]
    assert hashes[0] == hashes[1] != hashes[2]


def test_the_sheet_shows_sentences_and_no_picture(stranger, checked):
    page = stranger.get(address("task", leased(checked)))
    assert page.status_code == 200
    assert page.text.count("<fieldset") == 20
    assert "<img" not in page.text.replace('<div class="zoom-view"><img', "")
    assert "does not load" not in page.text
    assert "Report a problem" not in page.text
    assert 'value="4" data-key="2"' in page.text


def test_a_picture_that_does_not_load_and_a_report_are_refused(stranger, checked):
    assignment = leased(checked)
    skipped = stranger.post(address("draft", assignment), {"place": 1, "level-1": "0"})
    assert (skipped.status_code, "choose one of the 2 answers" in skipped.json()["errors"]["0"]) == (422, True)
    report = stranger.post(address("draft", assignment), {"problem-1": "text"})
    assert (report.status_code, "shows no pictures" in report.json()["errors"]["0"]) == (422, True)
    assert stranger.get(address("picture", assignment, 1)).status_code == 404


def test_work_counts_and_is_owed_without_controls(db, checked, commit):
    with commit(execute=True):
        vote_on_first(checked, 1, rest=4)
    assignment = Assignment.objects.get()
    assert (assignment.state, assignment.control_failures, assignment.payments.count()) == ("accepted", 0, 1)
    assert Decision.objects.get().reason == "The task has no controls."


def test_a_worker_answers_a_caption_once(db, checked, commit):
    with commit(execute=True):
        item = vote_on_first(checked, 1, rest=4)
    first = Judgment.objects.get(item=item)
    again = make_assignment(checked.hits.first().seats.get(number=2), make_worker())
    with pytest.raises(IntegrityError), transaction.atomic():
        Judgment.objects.create(
            assignment=again, item=item, worker=first.worker, image=None, caption=item.caption, level=4
        )


def test_the_shares_of_yes_are_analysed(db, checked, commit):
    with commit(execute=True):
        item = vote_on_first(checked, 1, 1, 4, rest=4)
    figures = figures_of("determinate", "captions")
    assert (figures["captions"], figures["votes"], figures["determinate"]) == (20, 60, 1)
    assert figures["mean share of yes"] == pytest.approx(2 / 3 / 20, abs=1e-4)
    assert "1 of 20 captions" in analyse("determinate", "captions")
    assert Judgment.objects.filter(item=item, level=1).count() == 2


def test_a_round_of_another_task_or_without_votes_is_refused(db, checked):
    with pytest.raises(CommandError, match="no judgments that count"):
        analyse("determinate", "captions")
    Round.objects.filter(pk=checked.pk).update(task="levels")
    with pytest.raises(CommandError, match="has the task levels"):
        analyse("determinate", "captions")


def test_what_is_about_pairs_is_refused_with_one_line(db, checked, tmp_path, commit):
    with commit(execute=True):
        vote_on_first(checked, 1, 4, rest=4)
    pool = checked.pool
    acts = [
        lambda: aggregate_round(checked),
        lambda: release_version("v1", collection=pool.collection, sample=pool.sample, rounds=[checked], partial=True),
        lambda: import_judgments(checked, tmp_path / "none.csv", actor="test"),
        lambda: make_asked(name="more", top_up=1),
    ]
    for act in acts[:-1]:
        with pytest.raises(CounterpartError, match="Use analyse determinate"):
            act()
    with pytest.raises(CounterpartError, match="one pair at a time"):
        acts[-1]()
    with pytest.raises(CommandError, match="not about pairs"):
        analyse("agreement", "captions")


# Grades of experts: 4 is the best on the sheet, level 1 is the best in the database


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
