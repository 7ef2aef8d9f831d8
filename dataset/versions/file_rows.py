"""What the files of a version hold of a pair, an answer and an item: their rows, and the verdict on a pair."""

from dataclasses import dataclass
from typing import NamedTuple

from counterpart_metrics.ids import sort_key

AUTOMATIC = "automatic"
"""The entry in the column ``sources`` of a pair that was rejected automatically."""


@dataclass(frozen=True)
class PairVerdict:
    """The verdict on a pair over all released rounds: a level, the shares of levels 1-4 and the numbers of votes and
    of simulated ones among them. ``review`` is the level that a reviewer gave the pair, which then holds; a pair that
    was reviewed without votes has no shares. ``probability``: that the votes' side, match or no match, is right; None
    for a reviewed pair, where it may not be shown, and where it was not asked for."""

    level: int
    shares: tuple[float, ...] = ()
    votes: int = 0
    simulated: int = 0
    review: int | None = None
    probability: float | None = None


class ReleasedPair(NamedTuple):
    """A row of the pairs file: a positive, judged or automatically rejected pair, by the collection's own ids.

    ``positive`` is 0 or 1. ``level``, ``votes``, the shares of levels 1-4, ``confidence`` (the share of ``level``) and
    ``simulated_votes`` are empty for an unjudged pair; a pair that a reviewer gave a level without votes has
    no shares. ``review`` is a reviewer's level, if there is one; ``sources`` are separated by semicolons, and are
    ``automatic`` for a pair that was rejected by its probability alone. ``probability``: that the side of the votes'
    verdict, match or no match, is right; empty for a pair without a judgment or with a reviewer's level, where the
    votes and controls say too little to show it, and in a release without rounds.
    """

    image: str
    caption: str
    positive: int
    level: str = ""
    votes: str = ""
    share_1: str = ""
    share_2: str = ""
    share_3: str = ""
    share_4: str = ""
    confidence: str = ""
    simulated_votes: str = ""
    review: str = ""
    sources: str = ""
    probability: str = ""

    @property
    def said(self) -> str:
        """What it says of the pair, in words."""
        said = "match" if self.positive else "no match"
        if self.sources == AUTOMATIC:
            return f"{said}, automatic"
        return f"{said}, level {self.level}" if self.level else f"{said}, unjudged"


class ReleasedJudgment(NamedTuple):
    """A row of the judgments file.

    ``hit``, ``assignment`` (among those of its HIT) and ``place`` count from 1, as does ``position``, where the worker
    saw the pair. ``control`` is empty for a candidate, otherwise the polarity of the gold control; ``worker`` is a
    pseudonym of this release; ``image`` and ``caption`` are the collection's own ids. ``at`` is UTC;
    ``active_seconds`` is that of the whole answer set, empty if unknown; ``wording`` is the version of the guidelines.
    ``simulated`` is 1 if a program answered, ``counted`` is 1 if the judgment entered a verdict. ``seconds`` is the
    active time on this pair, empty if unknown; None in a release that was made before it was counted.
    """

    round: str
    hit: int
    assignment: int
    place: int
    position: int
    control: str
    control_retired: int
    worker: str
    image: str
    caption: str
    level: int
    shortcoming: str
    wrong_way: str
    at: str
    active_seconds: int | str
    wording: int
    channel: str
    simulated: int
    counted: int
    seconds: int | str | None = None


NUMBERS = ("hit", "assignment", "place", "position", "control_retired", "level", "wording", "simulated", "counted")


class UncountedSet(NamedTuple):
    """A row of the tally of answer sets that do not count: what names the set in the judgments file, the pseudonym of
    its worker, and how many controls of each side were asked and answered right. Sets that were thrown out for another
    reason than their controls are not in it."""

    round: str
    hit: int
    assignment: int
    worker: str
    right_none: int
    asked_none: int
    right_match: int
    asked_match: int


class GalleryRow(NamedTuple):
    """An image or a caption (``kind``) by its id. ``image`` is the one that a caption was written for; ``sha256``
    covers the picture's bytes or the caption's text."""

    kind: str
    key: str
    image: str
    sha256: str


def pair_order(pair: tuple[str, str]) -> tuple[tuple[bool, int, str], tuple[bool, int, str]]:
    """Sort pairs by image, then by caption."""
    return sort_key(pair[0]), sort_key(pair[1])
