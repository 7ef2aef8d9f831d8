"""Scores of a round's models from the queries that were judged whole, with their intervals."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from django import forms

from core.errors import CounterpartError, some_of
from core.parameters import ConfidenceField, NamesField, Option, Parameters, ShareField
from core.progress import Progress, silent
from core.seeds import SeedField
from counterpart_statistics.auditing.model_scores import (
    USUAL,
    ModelDifference,
    ModelEstimate,
    model_differences,
    model_estimates,
)
from counterpart_statistics.auditing.proxy_judges import MachineJudge, judges_among
from counterpart_statistics.estimation import METRICS, Question
from counterpart_statistics.selection.pooled_queries import WholeQueries
from evaluation.auditing.whole_queries import whole_queries
from hits.models import Round
from hits.rounds.top_ups import design_of
from mitl.models import Annotator

NAMES = {"R-P": "R-Precision", **{name: name for name in METRICS}}
"""What a metric may be called → its name."""
Design = Literal["packed", "all", "audit"]
QueriesOption = Annotated[
    Question, "what an interval is of: what judging all of these queries would say, or queries drawn like them"
]


@dataclass(frozen=True)
class RoundEstimates:
    """The scores of a round's models, and the differences of those that follow each other."""

    models: tuple[ModelEstimate, ...]
    differences: tuple[ModelDifference, ...]


class ScoreParameters(Parameters):
    """Which scores are estimated of a round."""

    metric: Annotated[
        tuple[str, ...],
        NamesField(help_text=f"metrics (default {','.join(USUAL)}): {', '.join(METRICS)}; R-P is R-Precision"),
        Option(metavar="A,B"),
    ] = USUAL
    merge: Annotated[str, "match sources that count without a judgment, as release merges them"] = "original"
    queries: QueriesOption = "these"
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


class EstimateParameters(ScoreParameters):
    """What is estimated of a round, and from what."""

    design: Annotated[
        Design, "which judgments count: those that the round was packed to ask, those of all pairs, or of an audit"
    ] = "packed"
    audit_share: Annotated[
        float | None,
        ShareField(
            help_text="of a finished round of all pairs: the estimates of an audit of this share of the queries"
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

    A round of ``--judge audit`` is estimated from the queries that its design drew. In a round that asks all pairs the
    queries that are complete first are not a random sample, so it is counted once all are complete; with
    ``audit_share`` the result is that of an audit of this share of its queries.

    The estimand is the mean over queries of a metric with the pool's matches: pairs outside the pool count as no match.
    The interval is of what judging all of these queries would say, or of queries drawn like them.
    Raises CounterpartError for a round of first hits, a design without enough audited queries, an unfinished round of
    all pairs, and as ``load_pooled_queries`` does.
    """
    given = parameters or EstimateParameters()
    models: list[ModelEstimate] = []
    differences: list[ModelDifference] = []
    for whole in queries_for(round, given, progress=progress):
        progress("estimating", 0, None)
        found = scores_of(whole, given)
        models += found.models
        differences += found.differences
    return RoundEstimates(tuple(models), tuple(differences))


def scores_of(whole: WholeQueries, given: EstimateParameters) -> RoundEstimates:
    """Return the scores of one direction, and the differences of its neighbours."""
    asked = (whole, given.metrics, given.level)
    models = model_estimates(*asked, queries=given.queries)
    return RoundEstimates(tuple(models), tuple(model_differences(*asked, queries=given.queries)))


def queries_for(round: Round, given: EstimateParameters, *, progress: Progress = silent) -> Iterator[WholeQueries]:
    """Yield the ``whole_queries`` to estimate from. Raises as it does, and for a round of another design."""
    judge = design_of(round).judge
    if given.design == "all" and judge != "all":
        raise CounterpartError(f"Round {round} asks a part of its pool. --design all needs a round of all pairs.")
    if given.design == "audit" and judge == "all" and not given.audit_share:
        raise CounterpartError(f"Round {round} asks all pairs. Say with --audit-share which part an audit would judge.")
    return whole_queries(round, share=given.audit_share, seed=given.seed, merge=given.merge, progress=progress)


MACHINE_JUDGES = ("vlm",)
"""Kinds of annotators that answer the question that workers are asked."""


def machine_judges(whole: WholeQueries, metric: str) -> list[MachineJudge]:
    """Return the figures of the machine judges in an audit's pool in one direction, as ``judges_among``."""
    judges = Annotator.objects.filter(name__in=whole.queries.models, kind__in=MACHINE_JUDGES)
    return judges_among(whole, metric, dict(judges.values_list("name", "kind")))
