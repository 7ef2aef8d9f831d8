"""The figures of ``benchmarks.certainty``: of cases by hand, and on public crowds of the shared data."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import certainty


def test_the_calibration_error_of_a_case_by_hand():
    # Two of 0.95 of which one is right, two of 0.55 of which both are: (2 * 0.45 + 2 * 0.45) / 4.
    right = np.array([True, False, True, True])
    assert certainty.calibration_error(np.array([0.95, 0.95, 0.55, 0.55]), right) == pytest.approx(0.45)


def test_sets_that_do_not_count_are_asked_as_long_as_a_pair_of_theirs_waits_for_a_vote():
    rows = pd.DataFrame(
        [(0, 7, False), (0, 1, False), (1, 8, True), (1, 1, True), (1, 2, True), (2, 9, True), (2, 2, True)],
        columns=["set", "item", "counted"],
    )
    rows["control"] = np.where(rows["item"] > 6, "positive", "")
    answers = certainty.Answers(rows, pd.Series([True, False], index=[1, 2]))
    # Set 0 failed, so set 1 asks pair 1 again; then neither pair waits for set 2.
    assert answers.first(1).rows["set"].tolist() == [0, 0, 1, 1, 1]
    assert answers.first(pd.Series([1, 2], index=[1, 2])).rows["set"].unique().tolist() == [0, 1, 2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "votes", "error"), [("rte", 1, 0.075), ("rte", 3, 0.053), ("web", 1, 0.025), ("web", 3, 0.018)]
)
def test_verdicts_on_public_crowds_are_as_often_right_as_is_said(shared, name, votes, error):
    crowd = next(one for one in certainty.public_crowds(shared / "data") if one.name == name)
    found = pd.DataFrame([certainty.figures_of(crowd.draw(seed).first(votes), seed) for seed in range(5)])
    assert abs(found["excess"].mean()) < 0.03
    assert found["error"].mean() < error + 0.016
