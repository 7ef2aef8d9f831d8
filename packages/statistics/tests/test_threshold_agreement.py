import doctest

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from counterpart_statistics import threshold_agreement
from counterpart_statistics.threshold_agreement import filtered, kappas

SCORES = np.random.default_rng(2).random(60)
PEOPLE = np.clip(np.round(4 * SCORES + np.random.default_rng(3).normal(0, 0.7, 60)), 1, 4)


def test_the_examples_in_the_docstrings_run():
    assert doctest.testmod(threshold_agreement).failed == 0


def test_kappas_are_those_of_scores_turned_into_yes_and_no():
    found = kappas(SCORES, PEOPLE, [0.3, 0.5, 0.7], [2, 3])
    for i, threshold in enumerate([0.3, 0.5, 0.7]):
        for j, level in enumerate([2, 3]):
            assert found[i, j] == pytest.approx(cohen_kappa_score(threshold <= SCORES, level <= PEOPLE))


def test_a_filter_drops_more_and_loses_more_as_its_threshold_rises():
    thresholds = np.linspace(0, 1.01, 12)
    found = filtered(SCORES, PEOPLE, thresholds, good=3)
    assert (found.dropped[0], found.lost[0], found.dropped[-1], found.lost[-1]) == (0, 0, 1, 1)
    assert (np.diff(found.dropped) >= 0).all()
    assert (np.diff(found.lost) >= 0).all()
    good = SCORES[PEOPLE >= 3]
    assert found.lost[5] == pytest.approx((good < thresholds[5]).mean())


def test_without_a_good_pair_nothing_is_known_of_losses():
    assert np.isnan(filtered([0.1, 0.9], [1, 2], [0.5], good=3).lost).all()


@pytest.mark.parametrize("people", [[1.0], [], [[1.0, 2.0]]])
def test_scores_of_other_pairs_are_refused(people):
    with pytest.raises(ValueError, match="two lists of the same pairs"):
        kappas([0.1, 0.2], people, [0.5], [3])
