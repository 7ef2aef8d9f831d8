"""The cast of these tests: rounds of the browser pool, a lease on one, and a second member of the staff."""

import pytest
from django.contrib.auth.models import User

from annotation.models import Assignment, Rejection
from annotation.review.decisions import reject
from hits.models import Round
from tests.annotation.answering import leased
from tests.annotation.money.moneyed import WORDS, flagged, pooled
from tests.factories import make_collection, make_round
from tests.hits.pools import pack_boxes, pack_captions


@pytest.fixture
def made(db) -> Round:
    """One HIT of 4 pairs."""
    return make_round()


@pytest.fixture
def asking(db) -> Round:
    """The same, with reasons."""
    return make_round(reasons=True)


@pytest.fixture
def full(db) -> Round:
    """One HIT of 18 pairs."""
    return make_round(make_collection(images=20, captions_each=1, pictures=True), candidates=16)


@pytest.fixture
def full_asking(db) -> Round:
    """One HIT of 18 pairs, with reasons."""
    return make_round(make_collection(images=20, captions_each=1, pictures=True), candidates=16, reasons=True)


@pytest.fixture
def caption_round(db) -> Round:
    """One HIT of three pictures to which sentences are written, wanted five times."""
    return pack_captions()


@pytest.fixture
def box_round(db) -> Round:
    """One HIT of six pictures with ten sentences each, wanted three times."""
    return pack_boxes()


@pytest.fixture
def assignment(made) -> Assignment:
    return leased(made)


@pytest.fixture
def rejection(person) -> Rejection:
    """The work of a round of the house's pool, rejected by ``person``."""
    return reject(flagged(pooled()), **WORDS, by=person)


@pytest.fixture
def other(db) -> User:
    """Another member of the staff than ``person``."""
    return User.objects.create_user(username="sam")
