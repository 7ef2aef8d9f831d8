"""Automatic rejections: what their sample proves, and how a version keeps them."""

import numpy as np
import pytest
from scipy.stats import binom

from dataset.versions.file_rows import PairVerdict
from dataset.versions.rejections import (
    ALLOWED,
    Rejections,
    counted_rejections,
    most_matches,
    read_rejections,
    rejected_rows,
)
from dataset.versions.rendering import render_rejections

NO, YES = PairVerdict(4, votes=1), PairVerdict(1, votes=1)
ZONE = frozenset((str(image), str(caption)) for image in range(20) for caption in range(30))
SAMPLE = frozenset(sorted(ZONE)[:100])


def rejections(asked: frozenset = SAMPLE) -> Rejections:
    return Rejections("round-1", 0.02, ZONE, asked)


def test_the_bound_by_hand():
    """With no match in n pairs, the share p with (1 - p)^n = 0.05."""
    assert most_matches(0, 100) == pytest.approx(1 - 0.05 ** (1 / 100))


@pytest.mark.parametrize(("matches", "asked"), [(1, 50), (3, 160), (10, 40)])
def test_at_the_bound_so_few_matches_have_the_chance_of_an_error(matches, asked):
    assert binom.cdf(matches, asked, most_matches(matches, asked)) == pytest.approx(0.05)


def test_without_a_sample_or_with_matches_alone_nothing_is_proven():
    assert most_matches(0, 0) == 1
    assert most_matches(5, 5) == 1


def test_the_bound_holds_for_random_samples_of_a_zone():
    """Whatever the share of matches, the bound is below it in 5% of the samples at most."""
    rng = np.random.default_rng(0)
    for share in (0.002, 0.01, 0.03):
        matches = round(share * 2_000)
        drawn = rng.hypergeometric(matches, 2_000 - matches, 160, size=2_000)
        held = np.array([most_matches(found, 160) for found in range(161)])[drawn] >= share
        assert held.mean() >= 0.95 - 3 * (0.05 * 0.95 / 2_000) ** 0.5


def test_the_figures_count_the_matches_of_the_sample():
    verdicts = dict.fromkeys(SAMPLE, NO) | {min(SAMPLE): YES}
    found = rejections().figures(verdicts, (1, 2))
    assert (found["pairs"], found["asked"], found["matches"], found["counted"]) == (600, 100, 1, True)
    assert found["at_most"] == round(most_matches(1, 100), 4) <= ALLOWED


def test_a_pair_of_the_sample_without_a_verdict_counts_as_a_match():
    verdicts = {pair: NO for pair in SAMPLE if pair != min(SAMPLE)}
    assert rejections().figures(verdicts, (1, 2))["matches"] == 1


def test_pairs_without_a_verdict_are_rejected():
    verdicts = dict.fromkeys(SAMPLE, NO)
    assert counted_rejections([rejections()], verdicts, (1, 2)) == ZONE - SAMPLE


def test_a_zone_whose_sample_holds_too_many_matches_rejects_nothing():
    verdicts = dict.fromkeys(SAMPLE, NO) | dict.fromkeys(sorted(SAMPLE)[:5], YES)
    assert counted_rejections([rejections()], verdicts, (1, 2)) == set()


def test_the_file_holds_what_was_rejected(tmp_path):
    written = [rejections(), Rejections("round-2", 0.01, frozenset({("7", "8")}), frozenset())]
    assert read_rejections(render_rejections(written, tmp_path)) == written
    assert len(list(rejected_rows(written))) == 601
