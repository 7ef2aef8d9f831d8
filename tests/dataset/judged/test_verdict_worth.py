"""Sentences on how sure verdicts are."""

import pytest

from dataset.judged.verdict_worth import (
    held_sentence,
    hundredths,
    note_doubts,
    round_sentences,
    why_no_percentage,
    with_percentage,
    worth,
    wrong_range,
)
from dataset.models import Aggregation, Verdict
from dataset.verdicts import aggregate_round
from tests.annotation.cast import answer
from tests.dataset.judged.figures import FIGURES, REPEATED, SILENT
from tests.factories import make_collection, make_round, make_worker


def verdict(figures, probability=0.973, votes=2) -> Verdict:
    return Verdict(aggregation=Aggregation(certainty=figures), probability=probability, votes=votes)


def test_a_round_says_how_many_verdicts_are_wrong_and_on_what_that_rests():
    assert list(round_sentences(FIGURES)) == [
        "Of 480 verdicts about 36 are wrong (18 to 74).",
        "From 78 controls in 39 answer sets; 9 of them did not count.",
        "Nothing but controls was measured: every pair has one vote.",
    ]
    said = list(round_sentences(FIGURES | {"several": 64, "reviewed": 60, "reviewed_right": 55}))
    assert said[2:] == [
        "64 pairs have several votes, which say how hard pairs are.",
        "Checked on 60 verdicts drawn at random: 55 right (82 to 97%); the numbers here are corrected by it.",
    ]


def test_a_range_has_two_digits():
    many = FIGURES | {"verdicts": 48_000, "expected_wrong": 3_623.4, "wrong_low": 1_844.0, "wrong_high": 7_361.0}
    assert wrong_range(many) == (3_600, 1_800, 7_400)
    assert wrong_range(FIGURES | {"expected_wrong": 0.2, "wrong_low": 0, "wrong_high": 10}) == (0, 0, 10)


def test_votes_that_correct_verdicts_leave_the_errors_that_the_model_does_not_expect():
    assert wrong_range(FIGURES, corrected=19.0) == (17, 8, 55)
    assert wrong_range(FIGURES, corrected=0.0) == wrong_range(FIGURES) == (36, 18, 74)
    assert str(wrong_range(FIGURES)) == "36 (18 to 74)"


def test_where_nothing_may_be_said_only_the_reason_is():
    assert list(round_sentences(SILENT)) == [SILENT["silent"]] == [why_no_percentage(SILENT)]
    assert list(round_sentences(None)) == []
    (earlier,) = round_sentences({"found": 0.98, "refused": 0.98, "expected_wrong": 9.6, "verdicts": 480})
    assert "earlier program" in earlier
    for figures in (SILENT, None, {"found": 0.98}):
        assert (hundredths(verdict(figures)), worth(verdict(figures))) == (None, "")


@pytest.mark.parametrize(
    ("probability", "said"),
    [
        (0.99999, "about 99 of 100 such verdicts are right"),
        (0.973, "about 97 of 100 such verdicts are right"),
        (0.599, "open"),
        (0.4999, "the votes of better workers lean the other way"),
    ],
)
def test_a_verdict_of_several_votes_says_of_how_many_of_100_like_it_the_side_is_right(probability, said):
    assert worth(verdict(FIGURES, probability)) == said


def test_a_lone_vote_has_a_percentage_once_something_but_controls_is_measured():
    assert hundredths(verdict(FIGURES, votes=1)) is None
    assert "two votes" in why_no_percentage(FIGURES)
    for figures in (REPEATED, FIGURES | {"reviewed": 30}):
        assert hundredths(verdict(figures, votes=1)) == 97
        assert why_no_percentage(figures) == ""
    assert hundredths(verdict(REPEATED, probability=None)) is None


def test_what_became_of_verdicts_that_were_nearly_sure_is_said_of_twenty_and_more():
    tested = [(0.97, True)] * 18 + [(0.99, 0.5), (0.95, False), (0.9, False)]
    assert held_sentence(tested).startswith("20 verdicts drawn at random")
    assert "92 of 100 held" in held_sentence(tested)
    assert held_sentence(tested[1:]) == ""


@pytest.fixture
def judged(db):
    """A round of two HITs with lone votes: one of a worker who failed both controls of another set of theirs."""
    made = make_round(make_collection(images=24), candidates=4, hits=3)
    good, poor = make_worker(), make_worker()
    first, second, third = made.hits.all()
    answer(first, 1, 1, 4, 4, worker=good)
    answer(second, 1, 1, 4, 4, worker=poor)
    thrown = answer(third, 1, 1, 4, 4, worker=poor, state="excluded")
    for one in thrown.judgments.filter(item__control__isnull=False):
        one.level = 5 - one.level
        one.save()
    aggregate_round(made)
    return made


def test_a_lone_vote_names_the_controls_that_its_worker_failed(judged, django_assert_num_queries):
    verdicts = list(Verdict.objects.select_related("aggregation"))
    for one in verdicts:
        one.aggregation.certainty = FIGURES
    with django_assert_num_queries(2):
        note_doubts(verdicts)
    asked = judged.hits.last().items.filter(control__isnull=False).count()
    poor = set(judged.hits.all()[1].items.filter(control=None).values_list("image", "caption"))
    said = {(one.image_id, one.caption_id): worth(one) for one in verdicts}
    assert set(said.values()) == {"", f"from a worker who failed {asked} of {2 * asked} controls"}
    assert {pair for pair, doubt in said.items() if doubt} == poor


def test_verdicts_are_filtered_by_percentage_only_where_they_have_one(judged):
    (aggregation,) = judged.aggregations.all()
    for figures, n in ((FIGURES, 0), (FIGURES | {"several": 1}, 1), (REPEATED, 8), (SILENT, 0)):
        aggregation.certainty = figures
        Verdict.objects.filter(pk=Verdict.objects.first().pk).update(votes=2)
        assert Verdict.objects.filter(with_percentage([aggregation])).count() == n
