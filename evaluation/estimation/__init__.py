"""Scores of models from a part of the judgments, with intervals that hold: docs/estimation.md."""

from evaluation.estimation.audits import active_weights, pair_inclusion
from evaluation.estimation.estimators import (
    Estimate,
    Guard,
    estimate,
    estimate_difference,
    estimate_two_phase,
    guard_report,
)
from evaluation.estimation.expectation import Expected, expected_metric
from evaluation.estimation.pool_metrics import METRICS, UNLISTED, pool_metrics
from evaluation.estimation.probabilities import folds_of, match_probability, pair_features, query_effect
from hits.packing.audits import audit_order, inclusion_of

__all__ = [
    "METRICS",
    "UNLISTED",
    "Estimate",
    "Expected",
    "Guard",
    "active_weights",
    "audit_order",
    "estimate",
    "estimate_difference",
    "estimate_two_phase",
    "expected_metric",
    "folds_of",
    "guard_report",
    "inclusion_of",
    "match_probability",
    "pair_features",
    "pair_inclusion",
    "pool_metrics",
    "query_effect",
]
