"""Retrieve: every annotator finds the best captions of images and the best images of captions, once."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from time import perf_counter
from typing import cast

from core.errors import CounterpartError
from core.progress import Progress, silent
from core.text import counted
from counterpart_annotators.base import CrossEncoder, Pace
from counterpart_annotators.checkpoints import Checkpoints
from counterpart_topk.hubness.chosen_steps import Choice
from counterpart_topk.scored_pairs import SampledPairs
from mitl import annotators
from mitl.annotators.files import KeyedEmbeddings
from mitl.models import Annotator, Retrieval
from mitl.search.gallery import BothLists, Places, SearchGallery, load_lists, store_lists, with_ids
from mitl.search.pair_scores import Scoring
from mitl.search.request import CASCADE_DEPTH, Cascade, Search
from mitl.search.search_report import report_search
from mitl.search.store import find_retrieval, open_checkpoints, prefix_of_lists, retrievals_of, store_retrieval
from mitl.search.top_lists import SearchContext, find_top, scoring_of, topk_reranked
from mitl.search.tuning import choose_steps

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
        remaining = (self.pairs - self.kept) * (self.price or 0)
        price = (
            f", at a price of about {remaining:,.2f}, less for pairs that were paid for before" if self.price else ""
        )
        text = f"{self.annotator}: {number}{kept}, about {_duration(self.seconds)} at {rate} ({measured}){price}"
        if not self.cascaded:
            return f"{text}."
        shorter = _duration(self.cascaded / self.pairs_a_second)
        return f"{text}; with --cascade A at most {self.cascaded:,} pairs, about {shorter}."


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
    if recorded := scoring.scores.pace():
        return recorded
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


# Called with the cost of a cross-encoder's search before it starts; stops it by raising.
Confirm = Callable[[Estimate], None]
# Called with what was tried for an annotator's re-ranking, and what was chosen.
ReportChoice = Callable[[Annotator, Choice], None]


def retrieve(
    search: Search,
    *,
    tune: ReportChoice | None = None,
    confirm: Confirm | None = None,
    actor: str = "retrieve",
    progress: Progress = silent,
) -> list[Retrieval]:
    """Store each annotator's top lists, and return one Retrieval an annotator, in their order.

    A search that was made before, by the same weights over the same gallery, is returned as it is. An interrupted
    search resumes, and ends in the same bytes as an uninterrupted one: a cross-encoder from its last finished batches;
    a search of embeddings by all images and captions from its last strip of 8,192 images. The lists that a cascade
    begins with are searched first where they are missing.

    Args:
        tune: choose the settings of the re-ranking, and the number of its steps, for each annotator on the split
            ``val``, and report the choice here. It takes as many passes over that split as there are choices.
        confirm: receives the cost of each cross-encoder's search before it starts, and stops it by raising.
            Estimating takes about a second, or four batches.

    Raises:
        CounterpartError: for an impossible search, or an annotator that cannot search this gallery (no weights, no
            pictures, NaN, ids missing in its files, no scores to re-rank).
    """
    search = search.checked()
    if tune and not search.rerank:
        raise CounterpartError("--tune chooses among the settings of --rerank; pass its steps: --rerank csls,rgm.")
    _check_files(search)
    retrievals = []
    for annotator in search.annotators:
        chosen = _tuned(search, annotator, tune, progress) if tune else search
        retrievals.append(find_retrieval(chosen, annotator) or _retrieved(chosen, annotator, confirm, actor, progress))
    return retrievals


def estimate_retrieval(search: Search) -> list[Estimate]:
    """Return what ``retrieve`` would cost each cross-encoder that has not made this search yet; nothing is searched.

    Where the lists of the cascade are missing, their pairs can only be bounded.

    Raises CounterpartError as ``retrieve`` does.
    """
    search = search.checked()
    costly = filter(annotators.is_cross_encoder, search.annotators)
    return [_estimated(search, annotator) for annotator in costly if not find_retrieval(search, annotator)]


def _check_files(search: Search) -> None:
    """Refuse embeddings without ids of the gallery before another annotator has searched for minutes."""
    files = [one for one in search.annotators if one.kind == "files" and one.checkpoint]
    for annotator in files if len(search.annotators) > 1 else []:
        with errors_of(annotator):
            opened = annotators.load(annotator)
            if isinstance(opened, KeyedEmbeddings):
                opened.check_ids(search.gallery.images, search.gallery.captions)


def _tuned(search: Search, annotator: Annotator, report: ReportChoice, progress: Progress) -> Search:
    """Return the search with the steps that are best for this annotator."""
    with errors_of(annotator):
        choice = choose_steps(
            annotators.load(annotator, search.device),
            search.gallery.collection,
            search.rerank,
            progress=_progress_of(annotator, progress),
        )
    report(annotator, choice)
    return replace(search, rerank=choice.best.steps)


def _retrieved(
    search: Search, annotator: Annotator, confirm: Confirm | None, actor: str, progress: Progress
) -> Retrieval:
    first = _first_lists(search, annotator, actor, progress)
    kept = open_checkpoints(search, annotator)
    started = perf_counter()
    context = _context(search, annotator, first, kept, confirm, progress)
    with errors_of(annotator):
        lists = _searched(search, annotator, context)
    stored = store_lists(prefix_of_lists(search, annotator), lists)
    found = {direction: [(one.items, one.scores)] for direction, one in lists.items()}
    report = report_search(found, search.gallery.shape) | ({"vectors": context.vectors} if context.vectors else {})
    retrieval = store_retrieval(search, annotator, stored, perf_counter() - started, report=report, actor=actor)
    kept.clear()
    return retrieval


def _first_lists(search: Search, annotator: Annotator, actor: str, progress: Progress) -> BothLists | None:
    """Return the lists that a cascade begins with, searched now where they are missing; None without a cascade."""
    cascade = search.cascade_of(annotator)
    if cascade is None:
        return None
    if stored := _stored_first_lists(search):
        return stored
    plain = replace(search, annotators=[cascade.annotator], depth=cascade.depth, cascade=None)
    return load_lists(_retrieved(plain, cascade.annotator, None, actor, progress))


def _stored_first_lists(search: Search) -> BothLists | None:
    if (cascade := search.cascade) is None:
        return None
    deep = retrievals_of(search, cascade.annotator).filter(depth__gte=cascade.depth).first()
    return {side: lists.top(cascade.depth) for side, lists in load_lists(deep).items()} if deep else None


def _searched(search: Search, annotator: Annotator, context: SearchContext) -> BothLists:
    opened = annotators.load(annotator, search.device)
    gallery = search.gallery
    if search.rerank:
        blocks = opened.scores(gallery.images, gallery.captions, cache=context.cache, progress=context.progress)
        return with_ids(gallery, topk_reranked(blocks, gallery, search.depth, search.rerank, context.progress))
    opened.check_pictures(gallery.images)
    return with_ids(gallery, find_top(opened, gallery, search.depth, context))


def _context(
    search: Search,
    annotator: Annotator,
    first: BothLists | None,
    kept: Checkpoints,
    confirm: Confirm | None = None,
    progress: Progress = silent,
) -> SearchContext:
    def confirm_pairs(scoring: Scoring) -> None:
        if confirm:
            confirm(estimate(annotator.name, scoring, search.cascade, device=search.device))

    return SearchContext(
        kept=kept,
        engine=search.engine,
        device=search.device,
        cache=annotators.open_cache(annotator),
        first=first,
        confirm=confirm_pairs,
        progress=_progress_of(annotator, progress),
    )


def _estimated(search: Search, annotator: Annotator) -> Estimate:
    context = _context(search, annotator, _stored_first_lists(search), open_checkpoints(search, annotator))
    with errors_of(annotator):
        opened = cast(CrossEncoder, annotators.load(annotator, search.device))
        return estimate(
            annotator.name, scoring_of(opened, search.gallery, context), search.cascade, device=search.device
        )


def _progress_of(annotator: Annotator, progress: Progress) -> Progress:
    """Prefix every step with the annotator's name."""
    return lambda step, done, total: progress(f"{annotator.name}: {step}", done, total)


@contextmanager
def errors_of(annotator: Annotator) -> Iterator[None]:
    """Prefix errors with the annotator's name."""
    try:
        yield
    except (CounterpartError, ValueError) as error:
        raise CounterpartError(f"{annotator.name}: {error}") from error
