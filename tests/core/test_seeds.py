"""One rule for all seeds."""

import pytest
from django.core.exceptions import ValidationError

from core.errors import CounterpartError
from core.seeds import LARGEST_SEED, SeedField, check_seed


@pytest.mark.parametrize("seed", [-1, LARGEST_SEED + 1, 10**23])
def test_a_seed_out_of_range_is_refused_on_pages_and_in_functions(seed):
    with pytest.raises(CounterpartError, match=f"Invalid seed {seed}"):
        check_seed(seed)
    with pytest.raises(ValidationError):
        SeedField().clean(str(seed))


@pytest.mark.parametrize("seed", [0, LARGEST_SEED])
def test_the_smallest_and_the_largest_are_taken(seed):
    assert check_seed(seed) == SeedField().clean(str(seed)) == seed
