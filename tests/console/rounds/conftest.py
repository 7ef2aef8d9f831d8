"""The rounds that several modules of this folder begin with."""

import pytest

from hits.models import Round
from tests.factories import make_round


@pytest.fixture
def draft(db) -> Round:
    """A draft with one HIT."""
    return make_round(name="draft", published=False)
