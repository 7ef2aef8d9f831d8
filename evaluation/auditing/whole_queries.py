"""The queries of a round that were judged whole: drawn by its design, or all of them."""

from collections.abc import Iterator

import numpy as np

from core.errors import CounterpartError
from core.progress import Progress, silent
from core.text import counted
from counterpart_statistics.estimation.intervals import FEW, FEWEST
from counterpart_statistics.selection.pooled_queries import WholeQueries
from dataset.judged.answer_tables import votes_of
from evaluation.auditing.asked_pairs import added_pairs, opened_pairs, unasked_pairs
from evaluation.auditing.estimation_inputs import LONGEST, load_pooled_queries
from evaluation.scores.model_rankings import first_places
from hits.judge_designs import JudgeDesign, audited_queries
from hits.models import Round
from hits.rounds.top_ups import design_of
from hits.task_types import require_pairs
from mitl.models import Direction


def whole_queries(
    round: Round, *, share: float | None = None, seed: int = 0, merge: str = "original", progress: Progress = silent
) -> Iterator[WholeQueries]:
    """Yield the queries of each direction that was pooled. Raises CounterpartError as ``estimate_round`` says."""
    require_pairs(round)
    design = _design_of(round, share)
    votes = votes_of(round, finished=True, progress=progress)
    if votes.empty:
        raise CounterpartError(f"Round {round} has no judgments that count. Estimate it once work is accepted.")
    drawn = audited_queries(round.pool, design, seed if share else round.seed)
    rankings = first_places(round.pool, LONGEST)
    pooled = load_pooled_queries(
        round.pool, votes, rankings=rankings, added=added_pairs(round, finished=True), merge=merge, progress=progress
    )
    unasked = unasked_pairs(round, design, rankings, finished=True)
    opened = opened_pairs(round)
    for direction, queries in pooled.items():
        asked_of = frozenset(name for name in queries.models if not len(unasked[name]))
        nothing = np.full(len(queries.keys), -1)
        whole = WholeQueries(
            round.name, direction, round.seed, queries, nothing, asked_of, np.isin(queries.codes, opened)
        )
        whole = whole.drawing(drawn[direction])
        check_judged(whole, design)
        yield whole


def _design_of(round: Round, share: float | None) -> JudgeDesign:
    design = design_of(round, finished=True)
    if design.judge == "first-hits":
        raise CounterpartError(
            f"Round {round} asks the first hits alone, which give R@1: release it, and evaluate the version. Estimates "
            "of other metrics need a round of --judge audit."
        )
    if share and design.judge == "audit":
        raise CounterpartError(
            f"Round {round} is an audit: its design says which queries count. Leave --audit-share out."
        )
    return JudgeDesign("audit", share) if share else design


def check_judged(whole: WholeQueries, design: JudgeDesign) -> None:
    """Raise CounterpartError for a round of all pairs that is not finished, and an audit of fewer than three."""
    incomplete = int((~whole.queries.is_complete).sum())
    if design.judge == "all" and incomplete:
        raise CounterpartError(
            f"{counted(incomplete, 'query waits', 'queries wait')} for verdicts in round {whole.name}, which asks all "
            "pairs. Estimate it once it is finished, or plan a round of --judge audit."
        )
    judged = int(whole.audited.sum())
    if judged < FEWEST:
        raise CounterpartError(
            f"{counted(judged, 'query is', 'queries are')} judged whole of {whole.drawn.sum()} that the audit drew "
            f"({Direction(whole.direction).label}). An estimate needs {FEWEST} at least, and should have {FEW}."
        )
