"""T8: at equal judgments, an audit takes most of the bias out of a greedy round's scores, and flags what is off."""

import numpy as np
import pytest

from benchmarks.estimation.beds import synthetic_bed
from benchmarks.estimation.guards import guarded_round

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bed():
    return synthetic_bed(queries=800, items=1200)


def test_a_guarded_estimate_has_a_quarter_of_the_benchmarks_bias_at_most(bed):
    truth = bed.metrics.mean(axis=2)
    rounds = [guarded_round(bed, share=0.5, audit=0.2, seed=seed, batches=2) for seed in range(7)]
    benchmark = np.abs(np.mean([one.benchmark for one in rounds], axis=0) - truth)[:3].mean(axis=1)
    guarded = np.abs(np.mean([one.estimated for one in rounds], axis=0) - truth)[:3].mean(axis=1)
    assert (guarded <= benchmark / 4).all()
    assert np.mean([one.found for one in rounds]) >= 0.75


def test_a_model_whose_benchmark_is_far_off_is_flagged(bed):
    report = guarded_round(bed, share=0.15, audit=0.5, seed=1, batches=2).report
    assert np.mean([guard.deviation for guard in report]) < -0.02  # unjudged pairs count as no match
    worst = min(report, key=lambda guard: guard.deviation)
    assert worst.flagged
    assert not max(report, key=lambda guard: guard.deviation).flagged
