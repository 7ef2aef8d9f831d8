"""The votes on controls and candidates in a table of answers, and what they say of random pairs and of errors. Pure.

The table also says whether the control of an answer was ``retired``.
"""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from counterpart_statistics.aggregation import RIGHT
from counterpart_statistics.judged import MATCH, PAIR
from counterpart_statistics.random_pairs import ControlVotes, Learned, learn_from_controls
from counterpart_statistics.vote_errors import WorkersControls, Wrong, vote_errors


class VotesOnControls(NamedTuple):
    """The ``counted`` votes on controls, the votes of ``every`` answer set whose positive controls are right, the
    number of counted votes on each candidate, and how often one of these is ``wrong``."""

    counted: ControlVotes
    every: ControlVotes
    candidates: Sequence[int]
    wrong: Wrong

    def learned(self) -> Learned:
        return learn_from_controls(self.counted, every=self.every)


def votes_on_controls(answers: pd.DataFrame) -> VotesOnControls:
    """Return the votes on negative controls, random pairs outside every list, and on positive ones, known matches.

    Negative controls that were retired stay, as reliable workers retire them by calling them matches.
    """
    answers = answers.assign(match=answers["level"].isin(MATCH))
    controls = answers[answers["control"] != ""]
    negative = controls[controls["control"] == "negative"]
    positive = controls[(controls["control"] == "positive") & ~controls["retired"]]
    known = positive.loc[positive["counted"], "match"]
    missing = positive.loc[~positive["match"], "answer_set"]
    every = negative[negative["counted"] | ~negative["answer_set"].isin(missing)]
    missed = int((~known).sum())
    yes, votes = _tally(answers[answers["counted"] & (answers["control"] == "")])
    return VotesOnControls(
        ControlVotes(*_tally(negative[negative["counted"]]), missed, len(known)),
        ControlVotes(*_tally(every), missed, len(known)),
        votes,
        vote_errors(_workers_controls(controls), yes, votes),
    )


def right_of(answers: pd.DataFrame) -> "pd.Series[float]":
    """Return whether each answer to a control is right; NaN for those on candidates."""
    is_right = answers["level"].isin(MATCH) == (answers["control"] == "positive")
    return is_right.astype(float).where(answers["control"] != "")


def label_errors(answers: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Count the answers on gold controls, and the wrong ones, by polarity.

    ``counted_*`` are those of answer sets that entered the verdicts: fewer are wrong, as failed controls lead to a
    check. Retired controls are left out.
    """
    wrong = right_of(answers) == 0
    errors = {}
    for polarity in RIGHT:
        asked = (answers["control"] == polarity) & ~answers["retired"]
        groups = {"answers": asked, "wrong": asked & wrong}
        counts = groups | {f"counted_{name}": which & answers["counted"] for name, which in groups.items()}
        errors[polarity] = {name: int(which.sum()) for name, which in counts.items()}
    return errors


def _workers_controls(controls: pd.DataFrame) -> WorkersControls:
    """Return the answers to controls that were not retired, of counted sets and others."""
    sets = controls.drop_duplicates("answer_set").groupby("worker", sort=False)["counted"].sum()
    judging = controls[~controls["retired"]]
    side = judging["control"].map({"negative": 0, "positive": 1})
    wrong = right_of(judging) == 0
    counts = pd.crosstab(judging["worker"], [side, wrong])
    columns = pd.MultiIndex.from_product([[0, 1], [False, True]])
    table = counts.reindex(index=sets.index, columns=columns, fill_value=0).to_numpy().reshape(-1, 2, 2)
    return WorkersControls(table[:, :, 1], table.sum(axis=2), sets.tolist())


def _tally(answers: pd.DataFrame) -> tuple[list[int], list[int]]:
    """Return how many answers call each pair a match, and how many there are."""
    pairs = answers.groupby(PAIR, sort=False)["match"]
    return pairs.sum().tolist(), pairs.size().tolist()
