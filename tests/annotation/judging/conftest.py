"""Rounds of the browser pool and a lease on one, for the tests of the judging pages."""

import pytest

from annotation.models import Assignment
from hits.models import Round
from tests.annotation.answering import leased
from tests.factories import make_collection, make_round


@pytest.fixture
def made(db) -> Round:
    """One HIT of 4 pairs."""
    return make_round()


@pytest.fixture
def assignment(made) -> Assignment:
    return leased(made)


@pytest.fixture
def full(db) -> Round:
    """One HIT of 18 pairs."""
    return make_round(make_collection(images=20, captions_each=1, pictures=True), candidates=16)


@pytest.fixture
def full_asking(db) -> Round:
    """One HIT of 18 pairs, with reasons."""
    return make_round(make_collection(images=20, captions_each=1, pictures=True), candidates=16, reasons=True)
