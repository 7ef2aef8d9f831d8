"""The lines of the pairs table: proposals, votes, verdicts and reviews of some pairs, with a constant number of
queries."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from django.db.models import Count, QuerySet

from annotation.models import Report
from console.pairs.pair_filters import Pairs
from console.pairs.pair_scopes import PairScope
from core.text import csv_line
from corpus.models import Caption, Image, Match
from dataset.judged.verdict_files import verdicts_on
from dataset.judged.verdict_worth import hundredths, note_doubts
from dataset.models import Case, Review, Verdict
from hits.models import Control
from mitl.models import Direction, Proposal

Pair = tuple[int, int]
"""Database ids of an image and a caption."""
SEARCHED = {Direction.IMAGE_TO_CAPTION: "captions", Direction.CAPTION_TO_IMAGE: "pictures"}
"""What a list of each direction ranks."""
BATCH = 500  # lines of a download in memory at a time
COLUMNS = (
    *("image", "caption", "text", "annotators", "votes", "verdict", "confidence", "match", "review", "flags"),
    *("control", "probability"),
)


@dataclass
class Line:
    """One pair: its proposals, the levels of its counted votes by the name of their round, its verdicts, its matches in
    the version shown or in every source of the collection, its reviews, its waiting cases, workers' reports, and the
    controls that it is in the round shown."""

    image: Image
    caption: Caption
    proposals: list[Proposal] = field(default_factory=list)
    votes_by_round: dict[str, list[int]] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)
    matches: list[Match] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    controls: list[Control] = field(default_factory=list)

    @property
    def proposed(self) -> list[str]:
        """Each annotator that proposed it, with the rank, once for all pools: ``clip #1 of captions``."""
        said = (f"{one.annotator} #{one.rank} of {SEARCHED[Direction(one.direction)]}" for one in self.proposals)
        return list(dict.fromkeys(said))

    @property
    def votes(self) -> list[int]:
        """The levels of the votes of all rounds, in order."""
        return sorted(chain.from_iterable(self.votes_by_round.values()))

    @property
    def rounds(self) -> list[tuple[str, list[int], Verdict | None]]:
        """Each round in which it has counted votes or a verdict: its name, the levels of its votes, its verdict."""
        verdicts = {str(verdict.aggregation.round): verdict for verdict in self.verdicts}
        names = {**self.votes_by_round, **verdicts}
        return [(name, self.votes_by_round.get(name, []), verdicts.get(name)) for name in names]

    @property
    def level(self) -> int | None:
        """The level that holds: of the latest settled review, else of the newest verdict, else of a source."""
        settled = [review for review in self.reviews if review.is_settled]
        if settled and settled[-1].level:
            return settled[-1].level
        if self.verdicts:
            return self.verdicts[-1].level
        return next((match.grade for match in self.matches if match.grade), None)

    @property
    def key(self) -> str:
        """The pair as the boxes of its table name it."""
        return f"{self.image.pk}-{self.caption.pk}"

    @property
    def seen(self) -> int:
        """The id of its latest review, 0 without one."""
        return self.reviews[-1].pk if self.reviews else 0

    @property
    def excluded(self) -> list[str]:
        """The sides that reviews have excluded: the picture, the caption."""
        return [name for name, side in (("picture", self.image), ("caption", self.caption)) if side.excluded_at]

    @property
    def flags(self) -> list[str]:
        """Why a person should look at it: waiting cases, workers' reports, and what reviews have excluded."""
        reasons = [reason for case in self.cases for reason in case.reasons]
        return [
            *reasons,
            *(f"report: {report.get_problem_display()}" for report in self.reports),
            *(f"{name} excluded" for name in self.excluded),
        ]

    def cells(self) -> tuple[str, ...]:
        """Return the values of COLUMNS."""
        return (
            self.image.key,
            self.caption.key,
            self.caption.text,
            "; ".join(self.proposed),
            " ".join(map(str, self.votes)),
            " ".join(str(one.level) for one in self.verdicts),
            " ".join(f"{one.confidence:.3f}" for one in self.verdicts),
            " ".join(f"{one.score:g}" for one in self.matches if one.score is not None),
            str(self.reviews[-1]) if self.reviews else "",
            "; ".join(self.flags),
            " ".join(one.polarity for one in self.controls),
            " ".join("" if hundredths(one) is None else f"{one.probability:.3f}" for one in self.verdicts),
        )


def lines_of(place: PairScope, pairs: Iterable[Pair]) -> list[Line]:
    """Return the lines of ``pairs``, in their order."""
    pairs = list(pairs)
    lookup: dict[str, Any] = {
        "image__in": {image for image, _ in pairs},
        "caption__in": {caption for _, caption in pairs},
    }
    images = Image.objects.in_bulk(lookup["image__in"])
    captions = Caption.objects.in_bulk(lookup["caption__in"])
    lines = {pair: Line(images[pair[0]], captions[pair[1]]) for pair in pairs}
    # Rows are looked up by image and by caption, so that some are of other pairs.
    columns = "image_id", "caption_id", "assignment__hit__round__name", "level"
    votes = place.votes.filter(**lookup).values_list(*columns).annotate(n=Count("pk")).order_by("level")
    for image, caption, name, level, n in votes:
        if line := lines.get((image, caption)):
            line.votes_by_round.setdefault(name, []).extend([level] * n)
    judged = verdicts_on(place.aggregations, list(images.values()), list(captions.values()))
    for name, rows in {**_rows(place, lookup), "verdicts": judged}.items():
        for row in rows:
            if line := lines.get((row.image_id, row.caption_id)):
                getattr(line, name).append(row)
    note_doubts(verdict for line in lines.values() for verdict in line.verdicts)
    return list(lines.values())


def _rows(place: PairScope, lookup: dict[str, Any]) -> dict[str, Iterable[Any]]:
    """Return what is known of the pairs, by the list of a line that holds it."""
    proposals = Proposal.objects.filter(pool__in=place.pools, **lookup).select_related("annotator")
    reports = Report.objects.filter(**lookup).select_related("worker", "assignment__hit__round")
    matches = Match.objects.filter(collection=place.collection, **lookup).order_by("source")
    return {
        "proposals": proposals.order_by("rank", "annotator__name", "direction"),
        "reviews": Review.objects.filter(**lookup).select_related("by").order_by("pk"),
        "cases": Case.objects.filter(done_at=None, **lookup),
        "reports": reports.order_by("pk"),
        "matches": {"version": matches.filter(source=str(place.row)), "collection": matches}.get(place.kind, []),
        "controls": Control.objects.filter(round=place.row.pk, **lookup) if place.kind == "round" else [],
    }


def as_csv(place: PairScope, pairs: Pairs) -> Iterator[str]:
    """Yield the lines of all ``pairs`` as CSV."""
    yield csv_line(COLUMNS)
    rows = pairs.iterator(chunk_size=BATCH) if isinstance(pairs, QuerySet) else iter(pairs)
    while batch := list(islice(rows, BATCH)):
        for line in lines_of(place, batch):
            yield csv_line(line.cells())
