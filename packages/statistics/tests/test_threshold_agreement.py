import doctest

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, precision_recall_fscore_support

from counterpart_statistics import threshold_agreement
from counterpart_statistics.threshold_agreement import best_kappas, detection, filtered, kappas

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


def test_the_best_threshold_of_a_level_by_hand():
    # At 0.5 all four agree with level 3; at 0.9 one of two does: kappa 0.5. No pair has the level 5.
    found = best_kappas([0.9, 0.6, 0.1, 0.2], [4, 3, 1, 2], [0.3, 0.5, 0.9], [3, 5])
    assert found[0].tolist() == [0.3, 1]
    assert np.isnan(found[1]).all()


def test_the_best_kappa_is_the_greatest_of_all():
    thresholds, levels = np.arange(0.1, 1, 0.1), [2, 3, 4]
    every = kappas(SCORES, PEOPLE, thresholds, levels)
    found = best_kappas(SCORES, PEOPLE, thresholds, levels)
    assert found[:, 1].tolist() == every.max(0).tolist()
    assert all(every[list(thresholds).index(at), j] == every[:, j].max() for j, at in enumerate(found[:, 0]))


def test_detection_is_precision_recall_and_f1():
    found = detection(SCORES, PEOPLE, 0.6, [2, 3])
    for j, level in enumerate([2, 3]):
        slow = precision_recall_fscore_support(level <= PEOPLE, SCORES >= 0.6, average="binary")
        assert (found.precision[j], found.recall[j], found.f1[j]) == pytest.approx(slow[:3])


def test_detection_by_hand_with_thirds_that_are_a_little_short():
    # Found: the first three; good: the first and the last; shared: one.
    found = detection([1, 2 / 3, 0.6666666666, 0], [4, 1, 1, 4], 2 / 3, [4])
    assert (found.precision[0], found.recall[0], found.f1[0]) == pytest.approx((1 / 3, 1 / 2, 2 / 5))


def test_where_nothing_is_found_precision_is_undefined():
    found = detection([0.1, 0.2], [4, 1], 0.5, [4])
    assert np.isnan(found.precision[0])
    assert (found.recall[0], found.f1[0]) == (0, 0)


def test_a_filter_drops_pairs_that_were_not_judged_and_does_not_lose_them():
    found = filtered([0.1, 0.9, 0.1, 0.2], [4, 4, np.nan, np.nan], [0.15], good=3)
    assert (found.dropped[0], found.lost[0]) == (0.5, 0.5)
