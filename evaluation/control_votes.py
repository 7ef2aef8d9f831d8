"""The votes of a version on controls and candidates, as the estimate of completeness reads them."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from dataset.judgment_rows import ReleasedJudgment
from dataset.models import Version
from dataset.version_files import load_judgments
from evaluation.random_pairs import ControlVotes, Learned, learn_from_controls
from hits.models import Control
from hits.question import RIGHT_LEVELS


@dataclass(frozen=True)
class VotesOnControls:
    """The ``counted`` votes on controls, the votes of ``every`` answer set whose positive controls are right, and the
    number of counted votes of each candidate."""

    counted: ControlVotes
    every: ControlVotes
    candidates: Sequence[int]

    def learned(self) -> Learned:
        return learn_from_controls(self.counted, every=self.every)


def votes_on_controls(version: Version) -> VotesOnControls:
    """Return the votes on negative controls, random pairs outside every list, and on positive ones, known matches.

    Negative controls that were retired stay, as reliable workers retire them by calling them matches.
    """
    sets: dict[tuple[str, int, int], list[ReleasedJudgment]] = defaultdict(list)
    candidates: Counter[tuple[str, str]] = Counter()
    for row in load_judgments(version):
        if row.control:
            sets[row.round, row.hit, row.assignment].append(row)
        elif row.counted:
            candidates[row.image, row.caption] += 1
    counted, every, known = [], [], []
    match = RIGHT_LEVELS[Control.Polarity.POSITIVE]
    for rows in sets.values():
        positive = [row for row in rows if row.control == Control.Polarity.POSITIVE and not row.control_retired]
        negative = [row for row in rows if row.control == Control.Polarity.NEGATIVE]
        if rows[0].counted:
            counted += negative
            known += [row.level in match for row in positive]
        if rows[0].counted or all(row.level in match for row in positive):
            every += negative
    missed = known.count(False)
    return VotesOnControls(
        ControlVotes(*_tally(counted), missed, len(known)),
        ControlVotes(*_tally(every), missed, len(known)),
        list(candidates.values()),
    )


def _tally(rows: Sequence[ReleasedJudgment]) -> tuple[list[int], list[int]]:
    """Return how many answers call each pair a match, and how many there are."""
    match = RIGHT_LEVELS[Control.Polarity.POSITIVE]
    yes: Counter[tuple[str, str]] = Counter()
    votes: Counter[tuple[str, str]] = Counter()
    for row in rows:
        votes[row.image, row.caption] += 1
        yes[row.image, row.caption] += row.level in match
    return list(yes.values()), list(votes.values())
