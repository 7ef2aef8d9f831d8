"""Scores of models from a part of the judgments, with intervals that hold: docs/estimation.md."""

from evaluation.estimation.audit_plans import (
    Matches,
    Outlook,
    Pilot,
    Plan,
    Prices,
    expected_matches,
    front,
    match_curve,
    outlook_of,
    plan,
    proxy_quality,
    width_ratio,
)
from evaluation.estimation.calibration import Bin, Calibration, calibration_of
from evaluation.estimation.estimators import (
    Estimate,
    Guard,
    estimate,
    estimate_difference,
    estimate_two_phase,
    guard_report,
)
from evaluation.estimation.expectation import Expected, expected_metric
from evaluation.estimation.inclusion import active_weights, pair_inclusion
from evaluation.estimation.pool_metrics import METRICS, UNLISTED, pool_metrics
from evaluation.estimation.priors import prior_probability, simulated_gains
from evaluation.estimation.probabilities import (
    LOWEST_MATCH,
    folds_of,
    given_item_labels,
    given_labels,
    level_thresholds,
    match_probability,
    pair_features,
    query_effect,
)
from evaluation.estimation.unfinished import worst_interval
from hits.packing.audits import audit_order, inclusion_of

__all__ = [
    "LOWEST_MATCH",
    "METRICS",
    "UNLISTED",
    "Bin",
    "Calibration",
    "Estimate",
    "Expected",
    "Guard",
    "Matches",
    "Outlook",
    "Pilot",
    "Plan",
    "Prices",
    "active_weights",
    "audit_order",
    "calibration_of",
    "estimate",
    "estimate_difference",
    "estimate_two_phase",
    "expected_matches",
    "expected_metric",
    "folds_of",
    "front",
    "given_item_labels",
    "given_labels",
    "guard_report",
    "inclusion_of",
    "level_thresholds",
    "match_curve",
    "match_probability",
    "outlook_of",
    "pair_features",
    "pair_inclusion",
    "plan",
    "pool_metrics",
    "prior_probability",
    "proxy_quality",
    "query_effect",
    "simulated_gains",
    "width_ratio",
    "worst_interval",
]
