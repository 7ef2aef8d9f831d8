"""What the tests of estimates share."""

import pickle
from collections.abc import Iterator
from hashlib import sha256

import numpy as np
import pytest

from counterpart_statistics.estimation import probabilities
from hits.models import Round
from mitl.models import Pool
from tests.evaluation.worlds import AUDIT, judge_all, known_pool, published
from tests.hits.pools import pack


@pytest.fixture(scope="package", autouse=True)
def fitted_once() -> Iterator[None]:
    """Test after test estimates the same world, mostly by fitting the same models: fit those of equal labels once."""
    fit = probabilities.match_probability
    known: dict[bytes, np.ndarray] = {}

    def fitted(*arrays: np.ndarray) -> np.ndarray:
        asked = sha256(pickle.dumps(arrays)).digest()
        if asked not in known:
            known[asked] = fit(*arrays)
        return known[asked].copy()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(probabilities, "match_probability", fitted)
        yield


@pytest.fixture
def pool(db) -> Pool:
    return known_pool()


@pytest.fixture(scope="module")
def judged_audit(lasting) -> int:
    return judge_all(published(pack("audit", known_pool(), **AUDIT))).pk


@pytest.fixture
def audit(db, judged_audit) -> Round:
    """An audit of half of the queries, judged once for all tests of a module."""
    return Round.objects.get(pk=judged_audit)
