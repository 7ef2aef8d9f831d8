"""Equal vectors are grouped where that halves a side. Of a large side, a sample decides whether it may."""

import numpy as np
import pytest

from counterpart_topk.sides import group_equals, open_side

N = 20_000


def different(n: int) -> np.ndarray:
    return np.random.default_rng(1).standard_normal((n, 2), np.float32)


@pytest.mark.parametrize("arrange", [lambda rows: rows, np.random.default_rng(2).permutation], ids=["near", "apart"])
def test_every_vector_twice_makes_half_as_many_groups(arrange):
    rows = arrange(np.repeat(different(N // 2), 2, axis=0))
    groups = group_equals(open_side(rows, "images"))
    assert len(groups.firsts) == N // 2
    np.testing.assert_array_equal(rows[groups.firsts[groups.group_of]], rows)


@pytest.mark.parametrize("equal", [0, N // 100, N // 3])
def test_a_side_that_would_not_be_halved_has_no_groups(equal):
    rows = different(N)
    rows[:equal] = rows[N // 2 : N // 2 + equal]
    assert group_equals(open_side(rows, "images")) is None
