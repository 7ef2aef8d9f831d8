"""A simulated crowd that disagrees is asked for further votes, as people would be."""

from collections import Counter

import pytest

from annotation.models import Judgment
from annotation.work.disputes import disputed_pairs
from hits.models import Round, Seat, TopUp
from hits.rounds.top_ups import plan_again
from simulation.simulated_rounds import simulate_round
from tests.hits.pools import pack, pool_of

UNSURE = [[0.5, 0.5, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5], [0.0, 0.0, 0.5, 0.5]]


@pytest.fixture
def opened(transactional_db) -> Round:
    design = {"name": "small", "candidates": 4, "positives": 1, "negatives": 1}
    made = pack("unsure", pool_of(24), design=design, replication=2, top_up=2)
    Round.objects.filter(pk=made.pk).update(published_at="2026-11-01T00:00Z", channel="browser")
    return Round.objects.get(pk=made.pk)


@pytest.mark.slow
def test_disputed_pairs_are_asked_again_until_they_are_settled(opened, profile):
    figures = simulate_round(opened, workers=40, profile=profile(confusion=UNSURE, excluded=None), seed=2)
    assert figures["seats still open"] == 0
    votes = Counter(Judgment.objects.counted().of_candidates().values_list("image", "caption"))
    assert set(votes.values()) == {2, 3}  # of two levels, a third vote settles it
    assert disputed_pairs(opened) == []
    assert Seat.objects.filter(state=Seat.State.OPEN).count() == 0
    for made in TopUp.objects.all():
        assert plan_again(made).hash == made.plan_hash
