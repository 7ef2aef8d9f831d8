"""One rule for all seeds."""

import argparse

import pytest
from django.core.exceptions import ValidationError

from core.errors import CounterpartError
from core.seeds import LARGEST_SEED, SeedField, add_seed, check_seed


@pytest.mark.parametrize("seed", [-1, LARGEST_SEED + 1, 10**23])
def test_a_seed_out_of_range_is_refused_on_pages_and_in_functions(seed):
    with pytest.raises(CounterpartError, match=f"Invalid seed {seed}"):
        check_seed(seed)
    with pytest.raises(ValidationError):
        SeedField().clean(str(seed))


@pytest.mark.parametrize("seed", [0, LARGEST_SEED])
def test_the_smallest_and_the_largest_are_taken(seed):
    assert check_seed(seed) == SeedField().clean(str(seed)) == seed


def test_the_option_says_its_default():
    parser = argparse.ArgumentParser()
    add_seed(parser, "seed of the pictures", default=1)
    assert parser.parse_args([]).seed == 1
    assert "(default 1)" in parser.format_help()
