"""The round of the tests of pairs tables."""

import pytest

from dataset.verdicts import aggregate_round
from hits.models import Round
from tests.annotation.cast import answer, candidates, propose
from tests.dataset.judged.figures import REPEATED
from tests.factories import make_annotator, make_collection, make_round


@pytest.fixture
def made(db, four_candidates) -> Round:
    return Round.objects.get(pk=four_candidates.pk)


@pytest.fixture(scope="module")
def four_candidates(lasting) -> Round:
    """Four candidates a, b, c, d with votes 1 1, 1 4 (a tie: 4), 4 4, 2 2, and proposals: clip b, a; vilt c, d, b."""
    made = make_round(make_collection("lights", images=8, pictures=True), candidates=4, replication=2)
    hit = made.hits.get()
    answer(hit, 1, 1, 4, 2)
    answer(hit, 1, 4, 4, 2, seat=2)
    aggregate_round(made)
    made.aggregations.update(certainty=REPEATED)  # so few controls allow no percentage
    a, b, c, d = candidates(hit)
    propose(made, [b, a], make_annotator("clip"))
    propose(made, [c, d, b], make_annotator("vilt"))
    return made
