"""The boards of what audits estimate of a run, kept for a while as they take seconds."""

from functools import partial

from console.kept_figures import kept_if_slow
from core.errors import CounterpartError
from counterpart_statistics.estimation import METRICS
from evaluation.auditing.estimate_boards import EstimateBoard, audits_of, boards_of
from evaluation.auditing.round_estimates import EstimateParameters, RoundEstimates, estimate_round
from evaluation.models import Run
from hits.models import Round


def estimates_of_run(run: Run) -> list[tuple[Round, list[EstimateBoard]]]:
    """Return each audit of the run's collection that estimates it, with its row in each direction."""
    found = []
    for round_ in audits_of(run.collection):
        estimates = kept_if_slow(f"leaderboard-of-round:{round_.pk}", partial(_estimates, round_)).figures
        boards = [one.of_run(run) for one in boards_of(round_, estimates, METRICS[0])] if estimates else []
        if boards := [one for one in boards if one.board.rows]:
            found.append((round_, boards))
    return found


def _estimates(round_: Round) -> RoundEstimates | None:
    try:
        return estimate_round(round_, EstimateParameters(metric=METRICS))
    except CounterpartError:  # nothing can be said yet
        return None
