"""A release's file of judgments read as data frames: the votes that count, and the answers on controls."""

from pathlib import Path
from typing import Any

import pandas as pd

from hits.question import RIGHT_LEVELS


def read_votes(path: Path) -> pd.DataFrame:
    """Read the judgments that count from a judgments file, as ``dataset.aggregation.conclude`` takes them; the column
    ``simulated`` beside them. Those on retired controls tell nothing about anybody."""
    columns = ["image", "caption", "worker", "control", "level", "simulated", "control_retired", "counted"]
    texts: Any = dict.fromkeys(columns[:4], str)
    rows = pd.read_csv(path, usecols=columns, dtype=texts, keep_default_na=False)
    return rows[(rows.pop("counted") == 1) & (rows.pop("control_retired") == 0)].reset_index(drop=True)


def label_errors(path: Path) -> dict[str, dict[str, int]]:
    """Count the answers on gold controls in a judgments file, and the wrong ones, by polarity.

    ``counted_*`` are those of answer sets that entered the verdicts: fewer are wrong, as failed controls lead to a
    check. Retired controls are left out.
    """
    rows = pd.read_csv(path, usecols=["control", "level", "counted", "control_retired"], keep_default_na=False)
    errors = {}
    for polarity, right in RIGHT_LEVELS.items():
        answers = rows[(rows["control"] == polarity) & (rows["control_retired"] == 0)]
        wrong = ~answers["level"].isin(right)
        counted = answers["counted"] == 1
        errors[str(polarity)] = {
            "answers": len(answers),
            "wrong": int(wrong.sum()),
            "counted_answers": int(counted.sum()),
            "counted_wrong": int((wrong & counted).sum()),
        }
    return errors
