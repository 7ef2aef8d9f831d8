"""The boards of a round's estimates, kept for a while as they take seconds: of all models, and of a run."""

from functools import partial

from console.kept_figures import Kept, kept_if_slow
from core.errors import CounterpartError
from counterpart_statistics.auditing.model_scores import WHICH
from counterpart_statistics.estimation import METRICS, Question
from evaluation.auditing.estimate_boards import EstimateBoard, audits_of, boards_of
from evaluation.auditing.round_estimates import EstimateParameters, RoundEstimates, estimate_round
from evaluation.models import Run
from hits.models import Round

Figures = tuple[RoundEstimates | None, str]
"""The estimates, or why they are missing."""


def boards_of_round(round_: Round, by: str, queries: Question) -> dict[str, object]:
    """Return what the leaderboard shows of a round: its boards by the metric ``by``, with intervals for the question
    ``queries``, or the trouble."""
    kept = _kept(round_, queries)
    estimates, trouble = kept.figures
    boards: list[EstimateBoard] = boards_of(round_, estimates, by) if estimates else []
    shown = {"estimate_boards": boards, "trouble": trouble, "old_since": kept.old_since}
    return shown | {"by": by, "orders": METRICS, "queries": queries, "which": WHICH[queries]}


def estimates_of_run(run: Run) -> list[tuple[Round, list[EstimateBoard]]]:
    """Return each audit of the run's collection that estimates it, with its row in each direction."""
    found = []
    for round_ in audits_of(run.collection):
        estimates, _ = _kept(round_).figures
        boards = [one.of_run(run) for one in boards_of(round_, estimates, METRICS[0])] if estimates else []
        if boards := [one for one in boards if one.board.rows]:
            found.append((round_, boards))
    return found


def _kept(round_: Round, queries: Question = "these") -> Kept[Figures]:
    return kept_if_slow(f"leaderboard-of-round:{round_.pk}:{queries}", partial(_estimates, round_, queries))


def _estimates(round_: Round, queries: Question) -> Figures:
    try:
        return estimate_round(round_, EstimateParameters(metric=METRICS, queries=queries)), ""
    except CounterpartError as error:
        return None, str(error)
