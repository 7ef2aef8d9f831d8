"""What ``benchmarks.billion`` works out from its measurements."""

import numpy as np
import pytest
import torch

from benchmarks.beyond_rows import unit_vectors
from benchmarks.billion import ROWS, as_bfloat16, duration, from_bfloat16, plan
from mitl.search import by_parts


def test_a_plan_worked_by_hand():
    # 70 units on 2 hosts of 16 cores: three turns of 10 s. A host reads 35 units of 4 GB at 2 GB/s.
    made = plan(70, 10, 4e9, 2, read_rate=2e9, price=3.0)
    assert made.scanning == 30
    assert made.reading == 70
    assert made.seconds == 70
    assert made.money == pytest.approx(70 / 3600 * 2 * 3)


def test_encoding_is_shared_by_the_hosts_and_comes_before_the_rest():
    made = plan(16, 10, 0, 1, read_rate=1, price=0, encode_s=5)
    assert made.seconds == 15
    assert plan(32, 10, 0, 2, read_rate=1, price=0, encode_s=5).seconds == 12.5


def test_a_unit_that_is_left_over_takes_one_more_turn():
    turns = [plan(units, 1, 0, 1, read_rate=1, price=0).scanning for units in (1, 16, 17)]
    assert turns == [1, 1, 2]


def test_halves_are_those_of_torch_ties_included():
    vectors = unit_vectors(np.random.default_rng(0), 100, 64)
    ties = np.array([[1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-8, 2**-120]], np.float32)  # half-way between two bfloat16
    for values in (vectors, ties):
        widened = np.empty_like(values)
        from_bfloat16(widened, as_bfloat16(values))
        assert np.array_equal(widened, torch.from_numpy(values).bfloat16().float().numpy())


def test_durations_are_in_the_largest_unit_of_which_there_are_two():
    said = [duration(seconds) for seconds in (0.26, 119, 120, 3600, 7200, 30 * 86_400, 20 * 8766 * 3600)]
    assert said == ["0.3 s", "119 s", "2.0 min", "60 min", "2.0 h", "30 days", "20 years"]


def test_parts_are_as_large_as_those_of_a_search():
    assert by_parts.ROWS == ROWS
