"""The answers and the verdicts of a version as tables, from its files."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.errors import CounterpartError
from counterpart_statistics.judged import PAIR
from counterpart_statistics.judged.control_votes import right_of
from dataset.judged.answer_tables import with_ids
from dataset.models import Version
from dataset.versions.file_rows import UncountedSet
from dataset.versions.version_files import JUDGMENTS, UNCOUNTED, checked_file, load_pairs

SET = ["round", "hit", "assignment"]
"""What names an answer set."""
NOT_COUNTED_AGAIN = "Its certainty cannot be counted again"
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
    return with_sets(read_answers(checked_file(version, JUDGMENTS), *SET, *more)).rename(columns={"set": "answer_set"})


def votes_among(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the answers that count, as a method of aggregation takes them."""
    return answers[answers["counted"] & ~answers["retired"]].reset_index(drop=True)


def uncounted_sets(answers: pd.DataFrame, apart: Collection[tuple[str, int, str]] = ()) -> list[UncountedSet]:
    """Return the tally of the answer sets that do not count and answered a control, without those ``apart``
    (``sets_apart``)."""
    known = _on_controls(answers)
    known = known[~known["counted"]]
    match = known["control"] == "positive"
    right = right_of(known).astype(bool)
    sums = known[[*SET, "worker"]].assign(
        right_none=right & ~match, asked_none=~match, right_match=right & match, asked_match=match
    )
    rows = sums.groupby([*SET, "worker"]).sum().reset_index().itertuples(index=False)
    tally = [UncountedSet(*row) for row in rows]
    return [one for one in tally if (one.round, one.hit, one.worker) not in apart]


def control_answers(answers: pd.DataFrame, uncounted: Iterable[UncountedSet]) -> pd.DataFrame:
    """Return the answers to controls of the sets that count and of those in the tally: what the certainty of verdicts
    rests on, as ``full_conclusion`` takes it."""
    known = _on_controls(answers)
    named = pd.MultiIndex.from_frame(known[SET])
    return known[known["counted"] | named.isin([row[: len(SET)] for row in uncounted])]


def released_controls(version: Version, answers: pd.DataFrame) -> pd.DataFrame | None:
    """Return the ``control_answers`` of a version; None without a tally, as of an earlier program. Raises
    CounterpartError if the tally is missing, was changed or does not follow from the answers."""
    if UNCOUNTED not in version.manifest["files"]:
        return None
    try:
        rows = pd.read_csv(checked_file(version, UNCOUNTED), dtype={"round": str, "worker": str}, keep_default_na=False)
    except CounterpartError as error:
        raise CounterpartError(f"{NOT_COUNTED_AGAIN}. {error}") from error
    tally = [UncountedSet(*row) for row in rows.itertuples(index=False)]
    names = {row[: len(SET)] for row in tally}
    if tally != [row for row in uncounted_sets(answers) if row[: len(SET)] in names]:
        raise CounterpartError(f"{NOT_COUNTED_AGAIN}: {UNCOUNTED} does not follow from the judgments.")
    return control_answers(answers, tally)


def with_sets(answers: pd.DataFrame) -> pd.DataFrame:
    """Number the answer sets of answers (from 0), as ``set``."""
    return answers.assign(set=answers.groupby(SET, sort=True).ngroup())


def _on_controls(answers: pd.DataFrame) -> pd.DataFrame:
    return answers[~answers["retired"] & (answers["control"] != "")]


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
