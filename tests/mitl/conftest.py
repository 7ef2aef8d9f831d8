import pytest

from corpus.models import Collection
from tests.mitl.pictured import make_coloured_collection


@pytest.fixture
def colours(db) -> Collection:
    return make_coloured_collection()


@pytest.fixture
def few(db) -> Collection:
    """A coloured collection that is learned from in no time, and badly."""
    return make_coloured_collection(train_each=2)
