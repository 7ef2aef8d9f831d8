"""Scores of a round's models from the queries that were judged whole, with their intervals."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Literal, get_args

import numpy as np
from django import forms

from core.errors import CounterpartError, some_of
from core.parameters import ConfidenceField, NamesField, Option, Parameters, ShareField, choices
from core.progress import Progress, silent
from core.seeds import SeedField
from evaluation.auditing.whole_queries import Floats, WholeQueries, whole_queries
from evaluation.estimation import METRICS, Estimate, estimate, worst_interval
from hits.models import Round
from hits.top_ups import design_of
from mitl.models import Direction

NAMES = {"R-P": "R-Precision", **{name: name for name in METRICS}}
"""What a metric may be called → its name."""
Design = Literal["packed", "all", "audit"]


@dataclass(frozen=True)
class ModelEstimate:
    """One model's score in one direction.

    Attributes:
        counted: every query was judged, so that the value is no estimate; its interval is that of the draw of queries.
        judged: share of the direction's pairs to ask that were judged, those of audited queries.
        missing: drawn queries that lack verdicts; low and high then hold whatever verdicts they will get.
        own_asked: whether the model's own first items were asked. Where they were not, those that no annotator found
            count as no match.
    """

    model: str
    metric: str
    direction: Direction
    estimate: Estimate
    counted: bool
    judged: float
    missing: int
    own_asked: bool

    def row(self) -> dict[str, object]:
        """Return what ``estimate`` prints."""
        one = self.estimate
        return {
            "model": self.model,
            "metric": self.metric,
            "direction": self.direction.value,
            "value": one.value,
            "low": one.low,
            "high": one.high,
            "n_audited": one.n_audited,
            "judged": self.judged,
            "missing": self.missing,
            "own_asked": self.own_asked,
            "kind": "counted" if self.counted else "estimated",
            "estimand": one.estimand,
        }


@dataclass(frozen=True)
class ModelDifference:
    """By how much one model's score is above the next one's in the order of their values."""

    model: str
    following: str
    metric: str
    direction: Direction
    estimate: Estimate

    @property
    def is_open(self) -> bool:
        """Whether the interval holds 0, so that the order of the two is not known."""
        return self.estimate.low <= 0 <= self.estimate.high

    def row(self) -> dict[str, object]:
        """Return what ``estimate`` prints."""
        one = self.estimate
        return {
            "model": self.model,
            "following": self.following,
            "metric": self.metric,
            "direction": self.direction.value,
            "difference": one.value,
            "low": one.low,
            "high": one.high,
        }


@dataclass(frozen=True)
class RoundEstimates:
    """The scores of a round's models, and the differences of those that follow each other."""

    models: tuple[ModelEstimate, ...]
    differences: tuple[ModelDifference, ...]


@dataclass(frozen=True, kw_only=True)
class ScoreParameters(Parameters):
    """Which scores are estimated of a round."""

    metric: Annotated[
        tuple[str, ...],
        NamesField(help_text=f"metrics (default {','.join(METRICS[:3])}): {', '.join(METRICS)}; R-P is R-Precision"),
        Option(metavar="A,B"),
    ] = METRICS[:3]
    merge: Annotated[str, "match sources that count without a judgment, as release merges them"] = "original"
    confidence: Annotated[
        float, ConfidenceField(help_text="confidence of each interval, at all looks together"), Option(metavar="P")
    ] = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        unknown = [name for name in self.metric if name not in NAMES]
        if unknown:
            raise CounterpartError(f"Unknown metric {some_of(unknown)}: use {', '.join(METRICS)}.")

    @property
    def metrics(self) -> tuple[str, ...]:
        return tuple(NAMES[name] for name in self.metric)


@dataclass(frozen=True, kw_only=True)
class EstimateParameters(ScoreParameters):
    """What is estimated of a round, and from what."""

    design: Annotated[
        Design,
        forms.ChoiceField(
            choices=choices(*get_args(Design)),
            help_text="which judgments count: those that the round was packed to ask, those of all pairs, or of an "
            "audit",
        ),
    ] = "packed"
    audit_share: Annotated[
        float | None,
        ShareField(
            help_text="of a finished round of all pairs: what an audit of this share of the queries would have told"
        ),
    ] = None
    seed: Annotated[int, SeedField(help_text="seed of the draw of that audit")] = 0
    looks: Annotated[
        int,
        forms.IntegerField(
            min_value=1,
            help_text="number of looks at the round, fixed before the first: an interval then holds at all of them",
        ),
    ] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.design == "all" and self.audit_share:
            raise CounterpartError("Invalid option --audit-share: --design all counts every pair. Leave one out.")

    @property
    def level(self) -> float:
        """The confidence of one look, by Bonferroni's inequality."""
        return 1 - (1 - self.confidence) / self.looks


def estimate_round(
    round: Round, parameters: EstimateParameters | None = None, *, progress: Progress = silent
) -> RoundEstimates:
    """Estimate the scores of the round's annotators and of the models registered for its collection.

    A round of ``--judge audit`` is estimated from the queries that its design drew. In a round that asks all pairs
    nobody drew the queries that happen to be complete, so it is counted once all are; with ``audit_share`` the result
    is what an audit of so many of its queries would have told.

    The estimand is the mean over queries of a metric with the pool's matches: pairs outside the pool count as no match.
    Raises CounterpartError for a round of first hits, a design without enough audited queries, an unfinished round of
    all pairs, and as ``load_pooled_queries`` does.
    """
    given = parameters or EstimateParameters()
    models: list[ModelEstimate] = []
    differences: list[ModelDifference] = []
    for whole in queries_for(round, given, progress=progress):
        progress("estimating", 0, None)
        models += model_estimates(whole, given)
        differences += model_differences(whole, given)
    return RoundEstimates(tuple(models), tuple(differences))


def queries_for(round: Round, given: EstimateParameters, *, progress: Progress = silent) -> Iterator[WholeQueries]:
    """Yield the ``whole_queries`` that are estimated from. Raises CounterpartError as it does, and where the round does
    not have the wished design."""
    judge = design_of(round).judge
    if given.design == "all" and judge != "all":
        raise CounterpartError(f"Round {round} asks a part of its pool. --design all needs a round of all pairs.")
    if given.design == "audit" and judge == "all" and not given.audit_share:
        raise CounterpartError(f"Round {round} asks all pairs. Say with --audit-share which part an audit would judge.")
    return whole_queries(round, share=given.audit_share, seed=given.seed, merge=given.merge, progress=progress)


def model_estimates(whole: WholeQueries, given: EstimateParameters) -> list[ModelEstimate]:
    """Return the score of each model and wished metric."""
    queries, audited, drawn = whole.queries, whole.audited, whole.drawn
    judged = (queries.asked & audited[:, None]).sum() / max(queries.asked.sum(), 1)
    return [
        ModelEstimate(
            model,
            metric,
            whole.direction,
            _estimated(whole, whole.metrics[cell], whole.proxy[cell], 0.0, given.level),
            counted=bool(audited.all()),
            judged=float(judged),
            missing=int((drawn & ~audited).sum()),
            own_asked=model in whole.asked_of,
        )
        for number, model in enumerate(queries.models)
        for metric in given.metrics
        for cell in [(METRICS.index(metric), number)]
    ]


def _estimated(whole: WholeQueries, metric: Floats, proxy: Floats, lowest: float, level: float) -> Estimate:
    """Return the estimate of a metric (Q,) between ``lowest`` and 1 from the complete queries. Where drawn queries lack
    verdicts, the interval holds whatever these will be."""
    audited = whole.audited
    found = estimate(metric, proxy, audited, audited.mean(), level=level, estimand=whole.estimand)
    low, high = found.low, found.high
    if (whole.drawn & ~audited).any():
        low, high = worst_interval(metric, proxy, whole.drawn, audited, lowest=lowest, level=level)
    # Of a few queries, the sum of both stages may be outside the bounds.
    value, low, high = np.clip([found.value, low, high], lowest, 1.0).tolist()
    return replace(found, value=value, low=low, high=high)


def model_differences(whole: WholeQueries, given: EstimateParameters) -> list[ModelDifference]:
    """Return the differences of models that follow each other, best first."""
    found = []
    names, audited = whole.queries.models, whole.audited
    for metric in given.metrics:
        number = METRICS.index(metric)
        values, proxy = whole.metrics[number], whole.proxy[number]
        scores = [estimate(values[model], proxy[model], audited, audited.mean()).value for model in range(len(names))]
        for better, worse in pairwise(np.argsort(np.negative(scores), kind="stable").tolist()):
            difference = _estimated(
                whole, values[better] - values[worse], proxy[better] - proxy[worse], -1.0, given.level
            )
            found.append(ModelDifference(names[better], names[worse], metric, whole.direction, difference))
    return found
