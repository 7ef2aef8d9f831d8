"""The answers and the verdicts of a version as tables, from its files."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.errors import CounterpartError
from counterpart_statistics.judged import PAIR
from dataset.judged.answer_tables import with_ids
from dataset.models import Version
from dataset.versions.version_files import JUDGMENTS, checked_file, load_pairs

SET = ["round", "hit", "assignment"]
"""What names an answer set."""
FLAGS = ["control_retired", "simulated", "counted"]
TEXTS = ("round", "control", "worker", "image", "caption", "shortcoming", "wrong_way")
COLUMNS = ["image", "caption", "worker", "control", "level", *FLAGS]


def read_answers(path: Path, *more: str) -> pd.DataFrame:
    """Read the answers of a file of judgments, by the collection's own keys, with ``more`` of its columns. Those to
    retired controls are among them (``retired``)."""
    kinds: Any = {**dict.fromkeys(TEXTS, str), "active_seconds": float}
    blank = {"active_seconds": [""]}
    rows = pd.read_csv(path, usecols=[*COLUMNS, *more], dtype=kinds, keep_default_na=False, na_values=blank)
    flags = {name: rows[name] == 1 for name in FLAGS}
    return rows.assign(**flags).rename(columns={"control_retired": "retired"})


def numbered_answers(version: Version, *more: str) -> pd.DataFrame:
    """Read the answers of a version as ``read_answers``, with the number of their ``answer_set`` (from 0)."""
    rows = read_answers(checked_file(version, JUDGMENTS), *SET, *more)
    return rows.assign(answer_set=rows.groupby(SET, sort=True).ngroup())


def votes_among(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the answers that count, as a method of aggregation takes them."""
    return answers[answers["counted"] & ~answers["retired"]].reset_index(drop=True)


def answers_of_version(version: Version) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the answers of a version and its answer sets, from its file, as ``answers_of`` returns those of rounds;
    ``rejected`` is NaN, as no version holds it.

    Raises CounterpartError if the file is missing, was changed or is of another form, and if the collection no longer
    has one of its images or captions.
    """
    try:
        rows = numbered_answers(version, "shortcoming", "wrong_way", "active_seconds")
    except ValueError as error:
        raise CounterpartError(f"Version {version} has judgments of another form. Release it again.") from error
    of_set = rows.groupby("answer_set")
    accepted = of_set["counted"].first()
    sets = pd.DataFrame(
        {
            "worker": of_set["worker"].first(),
            "accepted": accepted,
            "excluded": ~accepted,
            "rejected": np.nan,
            "seconds": of_set["active_seconds"].first(),
            "pairs": of_set.size(),
        }
    )
    return with_ids(rows, version.collection)[~rows["retired"]].reset_index(drop=True), sets


def verdicts_of_version(version: Version) -> pd.DataFrame:
    """Return the level of each judged pair of a version, by database ids; a reviewer's overrides the votes'."""
    levels = [(pair.image, pair.caption, int(pair.level)) for pair in load_pairs(version) if pair.level]
    return with_ids(pd.DataFrame(levels, columns=[*PAIR, "level"]), version.collection)
