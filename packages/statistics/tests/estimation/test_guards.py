"""Rounds of likely matches on testbeds: their recall is an estimate that holds, and guarded scores are never worse."""

import numpy as np
import pytest

from benchmarks.estimation.beds import SIDES, eccv_beds, flickr_beds, rare_beds
from benchmarks.estimation.rounds import looks

pytestmark = [pytest.mark.slow, pytest.mark.shared]


def check(rounds):
    """Check the looks of rounds of one testbed."""
    every = [look for played in rounds for look in played]
    assert np.mean([look.holds for look in every]) >= 0.93
    assert abs(np.mean([look.said.value - look.recall for look in every])) < 0.02
    stops = [next((look for look in played if look.said.is_enough()), played[-1]) for played in rounds]
    assert np.mean([look.holds for look in stops]) >= 0.9
    assert min(look.recall for look in stops) >= 0.92
    truth, counted, audited, guarded = np.array([look.scores for look in every if look.scores is not None]).swapaxes(
        0, 1
    )
    far = [np.abs(one - truth).mean(axis=-1) for one in (counted, audited, guarded)]
    assert (far[2] <= far[0] + 1e-12).mean() >= 0.95
    assert (far[1] <= far[0]).mean() < 0.8


@pytest.mark.parametrize(("beds_of", "sides"), [(flickr_beds, SIDES), (eccv_beds, SIDES[1:])], ids=["Flickr8k", "ECCV"])
def test_rounds_on_real_judgments_name_their_recall(shared, beds_of, sides):
    """Of one direction of ECCV Caption: the gallery of the other takes a minute to rank."""
    beds = beds_of(shared / "data", sides)
    for played in (beds, rare_beds(beds)):
        check([list(looks(played, seed, batch=0.1)) for seed in range(5)])


def test_the_sum_of_probabilities_misses_by_far_half_way_to_the_stop(shared):
    beds = flickr_beds(shared / "data")
    assert max(look.recall - look.before for look in looks(beds, seed=0)) > 0.2
