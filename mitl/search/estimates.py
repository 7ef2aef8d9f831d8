"""Estimate how many pairs a cross-encoder has to score, and how long that takes, by scoring some."""

from dataclasses import dataclass
from decimal import Decimal
from time import perf_counter

from core.text import counted
from counterpart_annotators.base import Pace
from mitl.search.gallery import Places, SearchGallery
from mitl.search.pair_scores import SampledPairs, Scoring
from mitl.search.request import CASCADE_DEPTH, Cascade

FEWEST_TIMED = 3  # batches
TIMED_FOR = 1.0  # seconds
GOLDEN_SECTION = (5**0.5 - 1) / 2
UNITS = (("days", 48 * 3600, 24 * 3600), ("h", 90 * 60, 3600), ("min", 90, 60))


@dataclass(frozen=True)
class Estimate:
    """The cost of a search that has not started.

    ``pairs`` is the exact number or, with ``at_most``, a bound: the number of pairs that two directions share is known
    only from the lists. ``kept`` of them were scored before an interruption. ``cascaded`` bounds the pairs of a cascade
    of default depth, where the search is of all pairs; 0 where it is a cascade. ``price``: average price of a pair,
    None where pairs cost no money.
    """

    annotator: str
    pairs: int
    at_most: bool
    kept: int
    pairs_a_second: float
    measured_batches: int
    device: str
    cascaded: int
    price: Decimal | None = None

    @property
    def seconds(self) -> float:
        """Time for the remaining pairs."""
        return (self.pairs - self.kept) / self.pairs_a_second

    def __str__(self) -> str:
        number = f"{'at most ' if self.at_most else ''}{self.pairs:,} pairs"
        kept = f", {self.kept:,} of them scored already" if self.kept else ""
        rate = f"{self.pairs_a_second:,.{0 if self.pairs_a_second >= 10 else 2}f} pairs a second on {self.device}"
        measured = f"measured on {counted(self.measured_batches, 'batch', 'batches')}"
        price = self._price_as_text()
        text = f"{self.annotator}: {number}{kept}, about {_duration(self.seconds)} at {rate} ({measured}){price}"
        if not self.cascaded:
            return f"{text}."
        shorter = _duration(self.cascaded / self.pairs_a_second)
        return f"{text}; with --cascade A at most {self.cascaded:,} pairs, about {shorter}."

    def _price_as_text(self) -> str:
        if not self.price:
            return ""
        price = (self.pairs - self.kept) * self.price
        return f", at a price of about {price:,.2f}, less for pairs that were paid for before"


def estimate(annotator: str, scoring: Scoring, cascade: Cascade | None, *, device: str) -> Estimate:
    """Count the pairs to score, and time a few batches of them.

    Where the lists of ``cascade`` are missing, ``scoring`` is that of all pairs: its batches are timed.
    """
    unknown = cascade is not None and isinstance(scoring.pairs, SampledPairs)
    pairs = most_pairs(scoring.gallery, cascade.depth) if cascade and unknown else len(scoring.pairs)
    cascaded = most_pairs(scoring.gallery, CASCADE_DEPTH)
    pace = measure_pace(scoring)
    return Estimate(
        annotator=annotator,
        pairs=pairs,
        at_most=unknown,
        kept=0 if unknown else scoring.count_kept(),
        pairs_a_second=pace.pairs_a_second,
        measured_batches=pace.batches,
        device=device,
        cascaded=cascaded if cascade is None and cascaded < pairs else 0,
        price=pace.price,
    )


def measure_pace(scoring: Scoring) -> Pace:
    """Time batches from all over the pairs, after one to warm up: at least three, and for about a second.

    Their scores are not kept. No more batches are timed than the pairs make. Scores that record their own pace are
    only timed if nothing is recorded yet.
    """
    return scoring.scores.pace() or _timed(scoring)


def _timed(scoring: Scoring) -> Pace:
    scoring.score(*_some_batch(scoring, 0))
    most = max(FEWEST_TIMED, len(scoring.pairs) // scoring.batch_size)
    pairs = 0
    seconds = 0.0
    batches = 0
    while batches < FEWEST_TIMED or (seconds < TIMED_FOR and batches < most):
        batches += 1
        images, captions = _some_batch(scoring, batches)
        started = perf_counter()
        scoring.score(images, captions)
        seconds += perf_counter() - started
        pairs += len(images)
    return scoring.scores.pace() or Pace(pairs / seconds, batches)


def _some_batch(scoring: Scoring, number: int) -> tuple[Places, Places]:
    """Return the pairs of a batch. The fractional parts of multiples of the golden section fill 0 to 1 evenly, however
    many there are."""
    room = max(0, len(scoring.pairs) - scoring.batch_size)
    start = int(number * GOLDEN_SECTION % 1 * room)
    return scoring.pairs.part(start, start + scoring.batch_size)


def most_pairs(gallery: SearchGallery, cascade_depth: int) -> int:
    """Return how many pairs a cascade scores if no pair is in two lists."""
    return min(cascade_depth, gallery.depth) * (len(gallery.image_queries) + len(gallery.caption_queries))


def _duration(seconds: float) -> str:
    """Return a duration in a suitable unit: ``41 h``."""
    for unit, from_seconds, length in UNITS:
        if seconds >= from_seconds:
            return f"{seconds / length:,.0f} {unit}"
    return f"{max(1, seconds):.0f} s"
