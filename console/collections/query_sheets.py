"""The matches of one query, an image or a caption: original ones, those that people verified or rejected, and those of
other sources (ECCV Caption, figures 2 and C.2)."""

from typing import NamedTuple

from console.pairs.pair_lines import Line, Pair, lines_of
from console.pairs.pair_scopes import PairScope
from corpus.models import Caption, Image, Match
from dataset.judged.verdict_files import judged_pairs
from dataset.models import Review

MOST = 60
"""How many pairs of a group are shown."""
TITLES = (
    "Original",
    "Verified: 100% YES",
    "Verified: partially YES",
    "Rejected: mostly NO",
    "Rejected: 100% NO",
    "Not judged, known from other sources",
)
"""The groups of matches: original ones, those of each level, by its number, and the others."""
ORIGINAL, *LEVELS, UNJUDGED = range(len(TITLES))


class MatchGroup(NamedTuple):
    """Matches of the query with the same status, best first; ``total`` may be more than ``lines`` holds."""

    title: str
    level: int | None
    lines: list[Line]
    total: int


def groups_of(query: Image | Caption) -> list[MatchGroup]:
    """Return the query's matches in groups; empty groups are left out."""
    groups: list[list[Line]] = [[] for _ in TITLES]
    lines = lines_of(PairScope(query.collection), _known_pairs(query))
    for line in sorted(lines, key=lambda line: (line.level or 0, -len(line.matches), -len(line.proposals))):
        groups[_place(line)].append(line)
    return [
        MatchGroup(TITLES[place], place if place in LEVELS else None, part[:MOST], len(part))
        for place, part in enumerate(groups)
        if part
    ]


def _place(line: Line) -> int:
    if any(match.source == Match.ORIGINAL for match in line.matches):
        return ORIGINAL
    is_judged = line.verdicts or line.votes or line.reviews
    return line.level if line.level and is_judged else UNJUDGED


def _known_pairs(query: Image | Caption) -> list[Pair]:
    """Return the query's pairs that a source lists, a verdict is about or a review was made of."""
    this = {"image": query} if isinstance(query, Image) else {"caption": query}
    rows = [
        Match.objects.filter(**this),
        Review.objects.filter(**this).exclude(image=None).exclude(caption=None).order_by(),
    ]
    listed = {pair for found in rows for pair in found.values_list("image_id", "caption_id")}
    return sorted(listed | judged_pairs(query))
