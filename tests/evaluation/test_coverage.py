from math import isnan

import pytest

from evaluation.metrics import coverage

VERIFIED = {"q1": {1, 2, 3, 4}, "q2": {5}}
BENCHMARK = {"q1": {1, 9}, "q2": {5}}


def test_precision_is_the_mean_share_of_right_items():
    assert coverage(BENCHMARK, VERIFIED).precision == pytest.approx((1 / 2 + 1) / 2)


def test_recall_is_the_mean_share_of_found_items():
    assert coverage(BENCHMARK, VERIFIED).recall == pytest.approx((1 / 4 + 1) / 2)


def test_an_unjudged_pair_counts_as_wrong_as_the_paper_prints_it():
    assert coverage({"q1": {1, 99}}, VERIFIED).precision == 0.5


def test_an_unjudged_pair_is_left_out_when_only_judged_ones_count():
    assert coverage({"q1": {1, 99}}, VERIFIED, judged={"q1": {1, 2, 3, 4}}).precision == 1.0


def test_queries_without_verified_positives_do_not_enter_recall():
    assert coverage({"q3": {1}}, {"q1": {1}, "q3": set()}).recall == 0.0


def test_no_query_at_all_is_not_a_number():
    assert isnan(coverage({}, {}).precision)
