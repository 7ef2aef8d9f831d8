"""Seeds of random numbers: one rule for functions, commands and pages."""

from typing import Any

import numpy as np
from django import forms
from django.core.management.base import CommandParser

from core.errors import CounterpartError

LARGEST_SEED = 2**63 - 1  # what a database's big integer holds
RANGE = f"Use a whole number from 0 to {LARGEST_SEED}."


def check_seed(seed: int) -> int:
    """Return ``seed`` if it is 0 to 2^63 - 1. Raises CounterpartError otherwise."""
    if not 0 <= seed <= LARGEST_SEED:
        raise CounterpartError(f"Invalid seed {seed}: {RANGE[0].lower()}{RANGE[1:]}")
    return seed


def derived_seed(seed: int, number: int) -> int:
    """Return the seed of part ``number`` of a computation with this ``seed``."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0] >> np.uint64(1))


def add_seed(parser: CommandParser, help_text: str = "random seed", *, default: int = 0) -> None:
    """Add the option ``--seed`` to a command."""
    parser.add_argument("--seed", type=int, default=default, metavar="S", help=f"{help_text} (default {default})")


class SeedField(forms.IntegerField):
    """A seed that ``check_seed`` accepts."""

    metavar = "S"

    def __init__(self, **kwargs: Any) -> None:
        messages = dict.fromkeys(("invalid", "min_value", "max_value"), RANGE)
        super().__init__(min_value=0, max_value=LARGEST_SEED, error_messages=messages, **kwargs)
