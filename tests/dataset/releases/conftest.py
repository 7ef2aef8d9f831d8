"""A small judged round, for the tests of releases."""

import pytest

from dataset.verdicts import aggregate_round
from hits.models import Round
from tests.annotation.cast import answer
from tests.factories import make_round


@pytest.fixture
def round(db) -> Round:
    """Two candidates, judged 1 and 4."""
    made = make_round(candidates=2)
    answer(made.hits.get(), 1, 4)
    aggregate_round(made)
    return made
