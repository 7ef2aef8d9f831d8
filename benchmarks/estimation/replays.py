"""Replays: rounds drawn from a testbed, judged in part by each design, and compared with the testbed's truth.

A replay draws queries with replacement, so that the testbed is the population and its means are the truth; a design
then spends its share of the round's judgments. The probabilities come from a pilot of other random queries.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from benchmarks.estimation.beds import PILOT, Bed
from counterpart_statistics.estimation import (
    METRICS,
    Estimate,
    estimate_two_phase,
    expected_metric,
    inclusion_of,
    pair_inclusion,
    pool_metrics,
    score_interval,
)

AUDITED_SHARE = 0.35  # of the budget of two-phase designs
FEWEST = 8  # audited queries below which a replay is left out

Floats = NDArray[np.float64]
Ends = tuple[Floats, Floats, Floats]


@dataclass(frozen=True)
class Prepared:
    """A testbed and what a pilot lets us expect of it."""

    bed: Bed
    probabilities: Floats
    tau: float

    @classmethod
    def of(cls, bed: Bed, seed: int, pilot: float = PILOT) -> "Prepared":
        """``pilot``: share of the queries whose labels the probabilities are learned from."""
        probabilities, tau, _ = bed.probabilities(seed, pilot)
        return cls(bed, probabilities, tau)

    @cached_property
    def metrics(self) -> Floats:
        return self.bed.metrics

    @cached_property
    def truth(self) -> Floats:
        return np.asarray(self.metrics.mean(axis=2))

    @cached_property
    def quality(self) -> Floats:
        """(K,) ρ² of each metric with its proxy, mean over the models."""
        pairs = zip(self.expected.mean, self.metrics, strict=True)
        each = [
            [np.corrcoef(expected, true)[0, 1] ** 2 for expected, true in zip(*pair, strict=True)] for pair in pairs
        ]
        return np.mean(each, axis=1)

    @cached_property
    def full_width(self) -> Floats:
        """(K, M) half the width of the whole round's interval."""
        return np.asarray(1.96 * self.metrics.std(axis=2, ddof=1) / np.sqrt(self.metrics.shape[2]))

    @cached_property
    def expected(self):
        return expected_metric(self.bed.ranks, self.probabilities, self.bed.known, self.tau)

    @cached_property
    def core(self) -> NDArray[np.bool_]:
        """(Q, J) pairs to ask that some model ranks first."""
        return (self.bed.ranks == 1).any(axis=0) & self.bed.asked

    @cached_property
    def given_core(self) -> Floats:
        """(K, M, Q) the expected metrics once the first hits are judged."""
        known = np.where(self.core, self.bed.gains, self.bed.known)
        return expected_metric(self.bed.ranks, self.probabilities, known, self.tau).mean


@dataclass(frozen=True)
class Tally:
    """What a design gave in all replays: (R, K, M) values and the ends of their intervals."""

    values: Floats
    lows: Floats
    highs: Floats

    def row(self, prepared: Prepared, metric: int) -> dict[str, float]:
        """Return width by the whole round's, coverage of the mean and of the lowest model, outsiders' and the bias."""
        held = ((self.lows <= prepared.truth) & (prepared.truth <= self.highs)).mean(axis=0)[metric]
        halves = (self.highs - self.lows) / 2
        width = (halves / np.maximum(prepared.full_width, 1e-12)).mean(axis=0)[metric]
        outside = prepared.bed.outside
        return {
            "width": float(width.mean()),
            "coverage": float(held.mean()),
            "lowest": float(held.min()),
            "outside": float(held[outside].mean()) if outside.any() else float("nan"),
            "bias": float(np.abs(self.values.mean(axis=0) - prepared.truth)[metric].mean()),
        }


def replay(
    pilots: list[Prepared], design: str, fraction: float, spread: int, *, replays: int, seed: int = 0
) -> Tally | None:
    """Return the design's figures in replays, spread over the pilots; None where it can audit too few queries.

    Args:
        fraction: share of the whole round's judgments.
        spread: κ, queries of the replay by those of the round.
    """
    rng = np.random.default_rng(seed)
    found = []
    for number in range(replays):
        one = _estimates(pilots[number % len(pilots)], design, fraction, spread, rng)
        if one is None:
            return None
        found.append(one)
    return Tally(*np.array(found).transpose(1, 0, 2, 3))


DESIGNS = (
    "whole round",
    "subset, unjudged = no",
    "whole queries, plain mean",
    "whole queries, audit",
    "pairs, one step",
    "pairs, two-phase",
    "first hits and audit",
)


def _estimates(prepared: Prepared, design: str, fraction: float, spread: int, rng: np.random.Generator) -> Ends | None:
    """Return the values (K, M) of one replay and the ends of their intervals."""
    bed = prepared.bed
    drawn = rng.integers(0, len(bed.groups), spread * len(bed.groups))
    metrics = prepared.metrics[:, :, drawn]
    if design == "whole round":
        return _plain(metrics)
    if design == "subset, unjudged = no":
        seen = rng.random((len(drawn), bed.asked.shape[1])) < fraction
        labels = np.where(bed.asked[drawn] & ~seen, 0.0, bed.gains[drawn])
        return _plain(pool_metrics(bed.ranks[:, drawn], labels))
    budget = fraction * bed.pairs.mean() * len(bed.groups)
    if design == "first hits and audit":
        budget -= prepared.core[drawn].sum()
        return _audit(metrics, prepared.given_core[:, :, drawn], (bed.asked & ~prepared.core)[drawn], budget, rng)
    if design.startswith("pairs"):
        return _pairs(prepared, drawn, metrics, budget, rng, corrected=design == "pairs, two-phase")
    proxy = prepared.expected.mean[:, :, drawn]
    if design == "whole queries, plain mean":
        return _audit(metrics, np.zeros_like(proxy), bed.asked[drawn], budget, rng)
    return _audit(metrics, proxy, bed.asked[drawn], budget, rng)


def _variances(prepared: Prepared) -> Floats:
    return np.maximum(prepared.metrics.var(axis=2, ddof=1), 1e-6)


def _plain(metrics: Floats) -> Ends:
    values = metrics.mean(axis=2)
    reaches = 1.96 * metrics.std(axis=2, ddof=1) / np.sqrt(metrics.shape[2])
    return values, values - reaches, values + reaches


def _audited(
    pairs: NDArray[np.int64], budget: float, rng: np.random.Generator
) -> tuple[Floats, NDArray[np.bool_]] | None:
    """Return the probabilities of inclusion and the queries of an audit that costs ``budget`` pairs on average."""
    share = np.full(len(pairs), 1 / len(pairs))
    chance = inclusion_of(share, max(budget, 0) / pairs.mean())
    audited = rng.random(len(pairs)) < chance
    return (chance, audited) if audited.sum() >= FEWEST else None


def _audit(
    metrics: Floats,
    proxy: Floats,
    asked: NDArray[np.bool_],
    budget: float,
    rng: np.random.Generator,
) -> Ends | None:
    audit = _audited(asked.sum(axis=1), budget, rng)
    if audit is None:
        return None
    chance, audited = audit
    found = score_interval(metrics, proxy, audited, chance, queries="like")
    return found.value, found.low, found.high


def _pairs(
    prepared: Prepared,
    drawn: NDArray[np.int64],
    metrics: Floats,
    budget: float,
    rng: np.random.Generator,
    *,
    corrected: bool,
) -> Ends | None:
    """Two-phase; without the correction, the linear part replaces the metric where only some pairs were asked."""
    bed, expected = prepared.bed, prepared.expected
    asked = bed.asked[drawn]
    audit = _audited(asked.sum(axis=1), AUDITED_SHARE * budget, rng)
    if audit is None:
        return None
    chance, audited = audit
    left = budget - (asked & audited[:, None]).sum()
    p = np.where(asked, prepared.probabilities[drawn], 0.0)
    slopes = expected.slopes[..., 0][:, :, drawn]
    free = asked & ~audited[:, None]
    pi = pair_inclusion(slopes, p, _variances(prepared), left, asked=free)
    seen = rng.random(pi.shape) < pi
    residuals = np.where(asked, (bed.gains[drawn] > 0) - p, 0.0)
    if corrected:
        return _collected(
            estimate_two_phase(
                metrics[cell], expected.mean[cell][drawn], slopes[cell], residuals, seen, pi, audited, chance
            )
            for cell in np.ndindex(metrics.shape[:2])
        )
    weighted = np.where(seen, residuals / np.where(seen, pi, 1.0), 0.0)
    linear = expected.mean[:, :, drawn] + np.einsum("kmqj,qj->kmq", slopes, weighted)
    return _plain(np.where(audited, metrics, linear))


def _collected(estimates: Iterator[Estimate]) -> Ends:
    values, lows, highs = np.array([(one.value, one.low, one.high) for one in estimates]).T.reshape(3, len(METRICS), -1)
    return values, lows, highs
