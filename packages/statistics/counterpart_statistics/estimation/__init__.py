"""Scores of models from a part of the judgments, with intervals that hold: docs/estimation.md."""

from counterpart_statistics.audits import audit_order, inclusion_of
from counterpart_statistics.estimation.audit_plans import (
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
from counterpart_statistics.estimation.calibration import Bin, Calibration, calibration_of
from counterpart_statistics.estimation.estimators import (
    Estimate,
    Guard,
    estimate,
    estimate_difference,
    estimate_two_phase,
    guard_report,
)
from counterpart_statistics.estimation.expectation import (
    METRICS,
    UNLISTED,
    Expected,
    expected_mean,
    expected_metric,
    pair_inclusion,
    pool_metrics,
)
from counterpart_statistics.estimation.intervals import Interval, Question, nested_interval, score_interval, shrunk
from counterpart_statistics.estimation.priors import prior_probability, simulated_gains
from counterpart_statistics.estimation.probabilities import (
    LOWEST_MATCH,
    folds_of,
    given_item_labels,
    given_labels,
    level_thresholds,
    match_probability,
    pair_features,
    query_effect,
)
from counterpart_statistics.estimation.round_recall import Recall, Side, round_recall
from counterpart_statistics.estimation.unfinished import worst_interval

__all__ = [
    "LOWEST_MATCH",
    "METRICS",
    "UNLISTED",
    "Bin",
    "Calibration",
    "Estimate",
    "Expected",
    "Guard",
    "Interval",
    "Outlook",
    "Pilot",
    "Plan",
    "Prices",
    "Question",
    "Recall",
    "Side",
    "audit_order",
    "calibration_of",
    "estimate",
    "estimate_difference",
    "estimate_two_phase",
    "expected_matches",
    "expected_mean",
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
    "nested_interval",
    "outlook_of",
    "pair_features",
    "pair_inclusion",
    "plan",
    "pool_metrics",
    "prior_probability",
    "proxy_quality",
    "query_effect",
    "round_recall",
    "score_interval",
    "shrunk",
    "simulated_gains",
    "width_ratio",
    "worst_interval",
]
