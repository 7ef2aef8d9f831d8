"""The automatic zone: the unlikely pairs, and the random sample of them that is judged."""

import numpy as np
import pytest

from counterpart_statistics.selection.automatic_zone import CAP, zone_of
from counterpart_statistics.selection.likely_matches import LikelyMatches


def likely(probability, gains=None) -> LikelyMatches:
    p = np.array(probability)
    known = np.full(len(p), np.nan) if gains is None else np.array(gains)
    return LikelyMatches(np.arange(len(p)), p, known, np.zeros(len(p), bool))


def test_the_zone_is_of_the_unjudged_pairs_up_to_its_probability():
    found = likely([0.01, 0.02, 0.03, 0.005, 0.5, 0.4], [np.nan, np.nan, np.nan, 0, np.nan, np.nan])
    assert zone_of(found, below=0.02, sample=1, seed=0).pairs.tolist() == [0, 1]


def test_at_most_half_of_the_pairs_are_in_it_the_least_likely_ones():
    found = likely([0.004, 0.001, 0.003, 0.002])
    assert CAP == 0.5
    assert zone_of(found, below=0.02, sample=1, seed=0).pairs.tolist() == [1, 3]


def test_every_pair_of_the_zone_is_as_likely_in_the_sample():
    found = likely(np.full(20, 0.01))
    drawn = [zone_of(found, below=0.02, sample=3, seed=seed).asked for seed in range(2_000)]
    counts = np.bincount(np.concatenate(drawn), minlength=20)
    assert np.abs(counts[:10] - 600).max() < 5 * (2_000 * 0.3 * 0.7) ** 0.5
    assert all(len(set(one.tolist())) == 3 for one in drawn)


def test_a_zone_that_its_sample_would_cover_is_refused():
    with pytest.raises(ValueError, match="1 pairs without a verdict"):
        zone_of(likely([0.01, 0.5]), below=0.02, sample=1, seed=0)
