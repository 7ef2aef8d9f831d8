"""Boards of a round's estimates: models by metrics with their intervals, and which neighbours' order is open."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan

from core.text import counted
from corpus.models import Collection
from counterpart_metrics.figures import Figure
from counterpart_statistics.auditing.model_scores import ModelDifference, ModelEstimate, limits_of, percent
from crowd.posting.publication import BEGUN
from evaluation.auditing.round_estimates import RoundEstimates
from evaluation.models import Run
from evaluation.scores.boards import Board, Cell, Column, Row
from evaluation.scores.model_rankings import registered_runs
from hits.models import Round
from mitl.models import Direction


@dataclass(frozen=True)
class EstimateBoard:
    """The estimates of one direction.

    Attributes:
        board: models by metrics; the metric that orders the models comes first.
        notes: sentences on how much was judged and what is missing.
        differences: of models that follow each other in the order of the first column.
    """

    direction: Direction
    board: Board
    notes: Sequence[str]
    differences: Sequence[ModelDifference]

    def of_run(self, run: Run) -> "EstimateBoard":
        """Return the row of a run and its differences alone; without rows if the run is not estimated."""
        rows = [row for row in self.board.rows if row.run == run]
        steps = [one for one in self.differences if run.model in (one.model, one.following)]
        return replace(self, board=Board(self.board.columns, rows), differences=steps)


def audits_of(collection: Collection) -> list[Round]:
    """Return the rounds of a collection that judge whole queries of an audit, the newest first, without drafts."""
    return list(Round.objects.filter(BEGUN, pool__collection=collection, summary__judge__judge="audit"))


def boards_of(round: Round, estimates: RoundEstimates, by: str) -> list[EstimateBoard]:
    """Return a board for each direction that was estimated, the models by their value in the metric ``by``."""
    of_lists = Run.objects.filter(retrieval__in=round.pool.retrievals.all()).order_by("pk")
    runs = registered_runs(round.pool) | {run.model: run for run in of_lists}
    return [
        _board(direction, found, [one for one in estimates.differences if one.direction == direction], by, runs)
        for direction in Direction
        if (found := [one for one in estimates.models if one.direction == direction])
    ]


def describe_limits(found: Sequence[ModelEstimate]) -> list[str]:
    """Return sentences on which question the intervals of one direction answer, and what limits them."""
    one = found[0]
    said = [question_of(one)]
    if one.missing:
        said.append(
            f"{counted(one.missing, 'drawn query waits', 'drawn queries wait')} for verdicts: the intervals hold for "
            "every outcome."
        )
    return said + limits_of(found)


def question_of(one: ModelEstimate) -> str:
    """Say what the figures of its direction, and their intervals, are of."""
    return f"Value ({percent(one.estimate.level)} interval): {one.words}" if one.has_interval else f"Value {one.words}"


def _board(
    direction: Direction,
    found: Sequence[ModelEstimate],
    differences: Sequence[ModelDifference],
    by: str,
    runs: dict[str, Run],
) -> EstimateBoard:
    metrics = sorted(dict.fromkeys(one.metric for one in found), key=lambda metric: metric != by)
    columns = [Column(direction.value, metric) for metric in metrics]
    open_orders = {(one.model, one.metric) for one in differences if one.is_open}
    best = {metric: max(one.estimate.value for one in found if one.metric == metric) for metric in metrics}
    ordered = sorted(found, key=lambda one: -one.estimate.value)
    rows = [
        Row(
            leading.model,
            {
                Column(direction.value, one.metric): _cell(one, best[one.metric], open_orders)
                for one in found
                if one.model == leading.model
            },
            runs.get(leading.model),
            tuple(filter(None, [leading.not_asked])),
        )
        for leading in ordered
        if leading.metric == metrics[0]
    ]
    steps = [one for one in differences if one.metric == metrics[0]]
    notes = [
        f"The queries that are judged whole hold {found[0].judged:.0%} of the pairs to judge.",
        *describe_limits(found),
    ]
    if found[0].missing:
        notes.append("The interval of a difference holds at one look that was planned, not at the best of many.")
    return EstimateBoard(direction, Board(columns, rows), notes, steps)


def _cell(one: ModelEstimate, best: float, open_orders: set[tuple[str, str]]) -> Cell:
    value = one.estimate
    ends = (value.low, value.high) if one.has_interval else (nan, nan)
    return Cell(
        Figure(value.value, *ends, value.n_audited),
        best=value.value == best,
        kind="counted" if one.counted else "estimated",
        estimand=value.estimand,
        question=value.question,
        level=value.level,
        is_open=(one.model, one.metric) in open_orders,
    )
