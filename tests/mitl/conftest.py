import numpy as np
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


@pytest.fixture(scope="session")
def numbers(shared):
    """The arrays of one of the annotators' fixtures, by its name."""

    def load(name: str) -> dict[str, np.ndarray]:
        with np.load(shared / "fixtures" / "annotators" / f"{name}.npz") as arrays:
            return dict(arrays)

    return load
