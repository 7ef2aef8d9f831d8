"""The matches of one query, an image or a caption: original ones, those that people verified or rejected, and those of
other sources (ECCV Caption, figures 2 and C.2)."""

from dataclasses import dataclass

from console.pairs.pair_lines import Line, Pair, lines_of
from console.pairs.pair_scopes import PairScope
from corpus.models import Caption, Image, Match
from dataset.judged.verdict_files import judged_pairs
from dataset.models import Review
from hits.question import Level

MOST = 60
"""How many pairs of a group are shown."""
UNFOLDED = 4
"""How many of them before a person unfolds the rest: all groups are then at most five screens of a phone."""


@dataclass(frozen=True)
class MatchGroup:
    """Matches of the query with the same status, best first; ``total`` may be more than ``lines`` holds."""

    title: str
    level: int | None
    lines: list[Line]
    total: int

    @property
    def first(self) -> list[Line]:
        return self.lines[:UNFOLDED]

    @property
    def rest(self) -> list[Line]:
        return self.lines[UNFOLDED:]


def groups_of(query: Image | Caption) -> list[MatchGroup]:
    """Return the query's matches in groups; empty groups are left out."""
    lines = lines_of(PairScope(query.collection), _known_pairs(query))
    groups: dict[str, list[Line]] = {title: [] for title in TITLES}
    for line in sorted(lines, key=lambda line: (line.level or 0, -len(line.matches), -len(line.proposals))):
        groups[_title(line)].append(line)
    return [MatchGroup(title, TITLES[title], part[:MOST], len(part)) for title, part in groups.items() if part]


ORIGINAL = "Original"
UNJUDGED = "Not judged, known from other sources"
BY_LEVEL = {
    Level.YES: "Verified: 100% YES",
    Level.PARTIALLY_YES: "Verified: partially YES",
    Level.MOSTLY_NO: "Rejected: mostly NO",
    Level.NO: "Rejected: 100% NO",
}
TITLES: dict[str, int | None] = {
    ORIGINAL: None,
    **{title: level.value for level, title in BY_LEVEL.items()},
    UNJUDGED: None,
}


def _title(line: Line) -> str:
    if any(match.source == Match.ORIGINAL for match in line.matches):
        return ORIGINAL
    is_judged = line.verdicts or line.votes or line.reviews
    return BY_LEVEL[Level(line.level)] if line.level and is_judged else UNJUDGED


def _known_pairs(query: Image | Caption) -> list[Pair]:
    """Return the query's pairs that a source lists, a verdict is about or a review was made of."""
    this = {"image": query} if isinstance(query, Image) else {"caption": query}
    rows = [
        Match.objects.filter(**this),
        Review.objects.filter(**this).exclude(image=None).exclude(caption=None).order_by(),
    ]
    listed = {pair for found in rows for pair in found.values_list("image_id", "caption_id")}
    return sorted(listed | judged_pairs(query))
