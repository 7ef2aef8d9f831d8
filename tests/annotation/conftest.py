"""The cast of these tests: rounds of the browser pool, a lease on one, and a second member of the staff."""

import pytest
from django.contrib.auth.models import User

from annotation.models import Assignment
from hits.models import Round
from tests.annotation.answering import leased
from tests.factories import make_collection, make_round
from tests.hits.boxes import pack_boxes
from tests.hits.captions import pack_captions


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


@pytest.fixture
def caption_round(db) -> Round:
    """One HIT of three pictures to which sentences are written, wanted five times."""
    return pack_captions()


@pytest.fixture
def box_round(db) -> Round:
    """One HIT of six pictures with ten sentences each, wanted three times."""
    return pack_boxes()


@pytest.fixture
def other(db) -> User:
    """Another member of the staff than ``person``."""
    return User.objects.create_user(username="sam")
