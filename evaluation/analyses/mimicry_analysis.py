"""Workers whose answers follow an annotator's ranking beyond what it says of the pairs' matches."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.parameters import POSITIONAL, Parameters
from core.progress import Progress
from core.seeds import SeedField
from core.text import counted
from counterpart_statistics.judged import MATCH
from counterpart_statistics.judged.annotator_signals import what_annotators_say
from counterpart_statistics.mimicry import FEWEST, LEVEL, Followed, expected_answers, find_followers, others_votes
from counterpart_statistics.pair_codes import pair_codes
from evaluation.analyses import Findings, cells, plain, text_table
from evaluation.answered import AnswersParameters, read_answers
from evaluation.auditing.asked_pairs import added_pairs
from evaluation.auditing.estimation_inputs import load_pooled_queries
from hits.models import Round
from mitl.charts.drawing import Chart, Key
from mitl.charts.lines import Line, Plane, Point, diagonal, line_panel
from mitl.charts.scales import shares

FLAGGED = "flagged"
TOO_FEW = "too few answers"
SHOWN = 20  # workers on the terminal
NOTE = (
    f"Flagged: p, adjusted for the number of workers tested, is at most {LEVEL}; so at most {LEVEL:.0%} of the\n"
    f"rounds of honest workers have a flag. A test needs {FEWEST} answers. A flag rejects nothing: look at the\n"
    "worker's answers, times and controls. AUC: how well the annotator's rank or score separates the worker's yes and\n"
    "no; expected: the same for a worker who looks at the pairs, estimated from the others' answers."
)

Floats = NDArray[np.float64]


class MimicryParameters(Parameters):
    round: Annotated[str, "name of the round", POSITIONAL]
    seed: Annotated[int, SeedField(help_text="seed of the drawn honest answers")] = 0


def analyse(parameters: MimicryParameters, *, progress: Progress) -> Findings:
    """Test the workers by all answers on candidates that they submitted; what is expected of them is learned from those
    that count.

    Raises CounterpartError as ``read_answers`` does, and for a round whose pairs no annotator of its pool ranks.
    """
    round = Round.objects.select_related("pool__collection").named(parameters.round)
    answered = read_answers(AnswersParameters(round=(round.name,)), progress=progress)
    table = answered.answers[answered.answers["control"] == ""]
    pooled = load_pooled_queries(round.pool, None, added=added_pairs(round), progress=progress)
    pairs = pair_codes(table["image"], table["caption"])
    said = what_annotators_say(pooled.values(), pairs) if pooled else None
    if said is None or not (ranked := said.query >= 0).any():
        raise CounterpartError(
            f"No annotator of pool {round.pool} ranks the judged pairs of round {round}; there is nothing to compare."
        )
    progress("testing workers", 0, None)
    names, worker = np.unique(table["worker"][ranked].to_numpy(str), return_inverse=True)
    yes = table["level"].isin(MATCH).to_numpy(float)
    counting = np.where(table["counted"], yes, np.nan)
    features = np.hstack([said.features, others_votes(pairs, counting)])[ranked]
    expected = expected_answers(features, counting[ranked], worker, seed=parameters.seed)
    found = find_followers(
        yes[ranked], worker, said.query[ranked], expected, said.signals[:, ranked], seed=parameters.seed
    )
    rows = [_row(one, names[one.worker], said.names) for one in sorted(found, key=lambda one: (np.isnan(one.p), one.p))]
    figures = {"round": round.name, "level": LEVEL, "fewest": FEWEST, "workers": plain(rows)}
    return Findings(figures, _text(rows), _chart(round, rows), rows)


def _row(one: Followed, worker: str, names: Sequence[str]) -> dict[str, Any]:
    is_tested = one.signal >= 0
    return {
        "worker": worker,
        "answers": one.answers,
        "tested": one.tested,
        "annotator": names[one.signal % len(names)] if is_tested else "",
        "by": ("rank", "score")[one.signal // len(names)] if is_tested else "",
        "auc": one.auc,
        "expected_auc": one.expected_auc,
        "share": one.share,
        "p": one.p,
        "adjusted_p": one.adjusted,
        "result": (FLAGGED if one.is_flagged else "not flagged") if is_tested else TOO_FEW,
    }


def _text(rows: Sequence[Mapping[str, Any]]) -> str:
    tested = sum(row["result"] != TOO_FEW for row in rows)
    flagged = sum(row["result"] == FLAGGED for row in rows)
    heads = ["worker", "annotator", "by", "answers", "tested", "AUC", "expected", "p", "adjusted p", "result"]
    forms = {"answers": ",", "tested": ",", "auc": ".2f", "expected_auc": ".2f", "p": ".5f", "adjusted_p": ".5f"}
    table = [
        [row["worker"], row["annotator"] or "-", row["by"] or "-", *cells(row, **forms, result="")]
        for row in rows[:SHOWN]
    ]
    more = f"\n... and {len(rows) - SHOWN:,} more workers; --json and --csv list all." if len(rows) > SHOWN else ""
    summary = f"{counted(tested, 'worker')} tested, {flagged:,} flagged, {len(rows) - tested:,} with too few answers."
    return f"{summary}\n\n{text_table(heads, table, left=3)}{more}\n\n{NOTE}"


def _chart(round: Round, rows: Sequence[Mapping[str, Any]]) -> Chart:
    """Draw the workers by both areas: who follows an annotator is far above the diagonal."""
    colours = {FLAGGED: "level-4", "not flagged": "accent"}
    dots: dict[str, list[Point]] = {result: [] for result in colours}
    for row in rows:
        if row["result"] != TOO_FEW:
            tip = f"{row['worker']}: {row['auc']:.2f}, {row['expected_auc']:.2f} expected"
            dots[row["result"]].append(Point(row["expected_auc"], row["auc"], tip=tip, size=5))
    plane = Plane(shares(), shares(), height=320)
    lines = [Line(result, dots[result], colour, is_drawn=False) for result, colour in colours.items()]
    x = "AUC expected of a worker who looks at the pairs"
    y = "AUC of the worker's answers"
    return Chart(
        f"Workers who follow an annotator, round {round}",
        "How well the rank or score of the annotator that fits best separates a worker's yes and no. Above the line, "
        "better than if the worker had looked. A flag rejects nothing: look at the worker's answers.",
        [line_panel("", lines, plane, x, y, names=False, behind=diagonal(plane))],
        [Key(colour, result) for result, colour in colours.items()],
    )
