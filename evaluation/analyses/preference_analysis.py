"""Which rankings workers prefer, with Bradley-Terry strengths, in a round of the task preference."""

from typing import Annotated, Any

import numpy as np

from annotation.work.judgments import answers_in
from core.errors import CounterpartError
from core.parameters import POSITIONAL, Parameters
from core.progress import Progress
from counterpart_statistics.preference import bradley_terry_intervals
from evaluation.analyses import Findings, cells, text_table
from evaluation.answered import round_of_task
from hits.models import Round
from hits.task_types.ranking_preference import PREFERENCE, SYSTEMS
from mitl.charts.bars import bar_chart


class PreferenceParameters(Parameters):
    round: Annotated[str, "a round of the task preference", POSITIONAL]


def analyse(parameters: PreferenceParameters, *, progress: Progress) -> Findings:
    """Count the preferences that count, and estimate strengths with 95% intervals.

    Raises CounterpartError for a round of another task, if no judgment counts, and while a ranking was never preferred
    to the others, or always.
    """
    found = round_of_task(parameters.round, PREFERENCE)
    progress("reading judgments", 0, None)
    wins = wins_of(found)
    try:
        strengths = bradley_terry_intervals(wins)
    except ValueError as error:
        raise CounterpartError(f"Round {found}: {error}") from error
    rows: list[dict[str, Any]] = [
        {
            "system": name,
            "meaning": meaning,
            "strength": float(strengths.strengths[place]),
            "low": float(strengths.low[place]),
            "high": float(strengths.high[place]),
            **{f"preferred to {other}": int(wins[place, column]) for column, other in enumerate(SYSTEMS)},
        }
        for place, (name, meaning) in enumerate(SYSTEMS.items())
    ]
    figures = {"round": found.name, "preferences": int(wins.sum()), "systems": rows}
    text = f"{int(wins.sum()):,} preferences. Strengths are in percent, with 95% intervals.\n\n{_table(rows)}"
    bars = [{"name": f"{row['system']}: {row['meaning']}", "value": row["strength"]} for row in rows]
    chart = bar_chart(f"Preferred rankings in round {found}", "Bradley-Terry strengths", {"": bars}, x="percent")
    return Findings(figures, text, chart, rows)


def wins_of(round: Round) -> np.ndarray:
    """Return how often the system of each row was preferred to that of each column, as ``bradley_terry`` takes it."""
    places = {name: place for place, name in enumerate(SYSTEMS)}
    wins = np.zeros((len(places), len(places)), np.int64)
    answers: Any = answers_in(round).counted().values_list("item__content", "level")
    for content, level in answers:
        systems = content["systems"]
        wins[places[systems[level - 1]], places[systems[2 - level]]] += 1
    return wins


def _table(rows: list[dict[str, Any]]) -> str:
    heads = ["ranking", "strength", "low", "high", *(f"over {name}" for name in SYSTEMS)]
    lines = [
        [
            f"{row['system']}: {row['meaning']}",
            *cells(row, strength=".2f", low=".2f", high=".2f"),
            *(str(row[f"preferred to {name}"]) for name in SYSTEMS),
        ]
        for row in rows
    ]
    return text_table(heads, lines)
