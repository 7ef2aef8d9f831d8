"""The boards of a round's estimates, kept for a while as they take seconds: of all models, and of a run."""

from functools import partial

from console.kept_figures import Kept, kept_if_slow
from core.errors import CounterpartError
from counterpart_statistics.estimation import METRICS
from evaluation.auditing.estimate_boards import EstimateBoard, audits_of, boards_of
from evaluation.auditing.round_estimates import EstimateParameters, RoundEstimates, estimate_round
from evaluation.models import Run
from hits.models import Round

BY_ALL = EstimateParameters(metric=METRICS)

Figures = tuple[RoundEstimates | None, str]
"""The estimates, or why they are missing."""


def boards_of_round(round_: Round, by: str) -> dict[str, object]:
    """Return what the leaderboard shows of a round: its boards by the metric ``by``, or the trouble."""
    kept = _kept(round_)
    estimates, trouble = kept.figures
    boards: list[EstimateBoard] = boards_of(round_, estimates, by) if estimates else []
    return {"estimate_boards": boards, "trouble": trouble, "old_since": kept.old_since, "by": by, "orders": METRICS}


def estimates_of_run(run: Run) -> list[tuple[Round, list[EstimateBoard]]]:
    """Return each audit of the run's collection that estimates it, with its row in each direction."""
    found = []
    for round_ in audits_of(run.collection):
        estimates, _ = _kept(round_).figures
        boards = [one.of_run(run) for one in boards_of(round_, estimates, METRICS[0])] if estimates else []
        if boards := [one for one in boards if one.board.rows]:
            found.append((round_, boards))
    return found


def _kept(round_: Round) -> Kept[Figures]:
    return kept_if_slow(f"leaderboard-of-round:{round_.pk}", partial(_estimates, round_))


def _estimates(round_: Round) -> Figures:
    try:
        return estimate_round(round_, BY_ALL), ""
    except CounterpartError as error:
        return None, str(error)
