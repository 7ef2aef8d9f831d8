"""What planning and publishing a round would take, before anything is searched: pairs to score, HITs and cost."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
from django.db.models import Count

from core.errors import CounterpartError, some_of
from core.text import counted
from corpus.models import Collection, Sample
from corpus.samples import check_drawable
from hits.judge_designs import Judge, JudgeDesign, queries_of
from hits.pair_plans import number_collection
from hits.rounds.round_parameters import PackParameters, RoundParameters
from hits.task_types import TASK_TYPES
from hits.task_types.task_type import Pooled
from mitl.annotators import is_cross_encoder, is_untrained
from mitl.models import Annotator, Direction, Pool, Retrieval
from mitl.search.gallery import check_searchable

MANY = 20_000  # pairs: minutes of a network that reads picture and caption together


@dataclass(frozen=True)
class ScoringEstimate:
    """The pairs that a cross-encoder scores, at most; the time is by its latest search, None without one."""

    annotator: str
    pairs: int
    seconds: float | None


@dataclass(frozen=True)
class PlanEstimate:
    """The searches of cross-encoders, and the pairs, HITs and US dollars of the round: at most, as annotators agree on
    pairs, which are then asked once; of an audit about, as its queries are drawn when it is packed."""

    scorings: list[ScoringEstimate]
    pairs: int
    hits: int
    cost: Decimal
    judge: Judge = "all"

    @property
    def is_long(self) -> bool:
        return any(scoring.pairs > MANY for scoring in self.scorings)


@dataclass(frozen=True)
class _Sizes:
    """Numbers of query images and query captions, and of the images and captions of the gallery."""

    images: int
    captions: int
    gallery_images: int
    gallery_captions: int

    @property
    def depth(self) -> int:
        """The longest possible lists in both directions."""
        return min(self.gallery_images, self.gallery_captions)

    def audited(self, design: JudgeDesign) -> "_Sizes":
        """Return the same with the queries alone whose pairs the design asks."""
        return replace(self, images=design.n_audited(self.images), captions=design.n_audited(self.captions))

    def pairs(self, depth: int | None) -> int:
        """Pairs of all queries with the first ``depth`` of their lists, or with the whole gallery for None."""
        first = self.gallery_captions
        second = self.gallery_images
        if depth is not None:
            first = min(depth, first)
            second = min(depth, second)
        return self.images * first + self.captions * second

    def pooled(self, places: int, directions: Sequence[str]) -> Pooled:
        """Return the largest size of a pool that takes ``places`` places of all lists of a query together."""
        by_image = min(places, self.gallery_captions) if Direction.IMAGE_TO_CAPTION in directions else 0
        by_caption = min(places, self.gallery_images) if Direction.CAPTION_TO_IMAGE in directions else 0
        found = self.captions * by_caption
        # An image more needs a check-box screen more: the captions' lists name as many different ones as they can.
        spread = np.ones(min(found, self.gallery_images), np.int64)
        spread[:1] += found - len(spread)
        asked = np.append(np.full(self.images if by_image else 0, by_image), spread)
        captions = min(self.images * by_image + (self.captions if by_caption else 0), self.gallery_captions)
        return Pooled(self.images * by_image + found, lambda: captions, lambda: asked, lambda: self.images)


def estimate_plan(parameters: RoundParameters) -> PlanEstimate:
    """Count what the round would take. Raises CounterpartError for an unknown collection, sample or annotator, an
    annotator that is not trained, a collection without captions, and more queries or a greater control depth than the
    gallery has."""
    collection = Collection.objects.named(parameters.collection)
    check_searchable(collection)
    sizes = _sizes(collection, parameters)
    annotators = Annotator.objects.all_named(parameters.annotators)
    if untrained := [annotator.name for annotator in annotators if is_untrained(annotator)]:
        raise CounterpartError(
            f"{counted(len(untrained), 'annotator is', 'annotators are')} not trained yet: {some_of(untrained)}. Train "
            f"it on its page, or with train_annotator {untrained[0]} --collection {collection}."
        )
    depth = parameters.cascade_depth if parameters.cascade else None
    if parameters.control_depth > sizes.depth:
        raise CounterpartError(
            f"Invalid control depth {parameters.control_depth}: a gallery of {counted(sizes.gallery_images, 'image')} "
            f"and {counted(sizes.gallery_captions, 'caption')} allows at most {sizes.depth}."
        )
    if parameters.top_k > parameters.control_depth:
        raise CounterpartError(
            f"Invalid top-k {parameters.top_k}: it is greater than the control depth {parameters.control_depth}. "
            "Change --top-k or --control-depth."
        )
    directions = Direction.values if parameters.direction == "both" else [parameters.direction]
    by_side = {Direction.IMAGE_TO_CAPTION: sizes.images, Direction.CAPTION_TO_IMAGE: sizes.captions}
    design = parameters.judge_design(by_side[direction] for direction in Direction if direction in directions)
    places = len(annotators) * (1 if design.judge == "first-hits" else parameters.top_k)
    pooled = sizes.audited(design).pooled(places, directions)
    scorings = [_scoring(annotator, sizes.pairs(depth)) for annotator in annotators if is_cross_encoder(annotator)]
    return replace(_estimate(pooled, parameters), scorings=scorings)


def estimate_round(pool: Pool, parameters: PackParameters) -> PlanEstimate:
    """Count the HITs of a pool as the type of task makes them, and their rewards in US dollars."""
    return _estimate(_stored(pool) if parameters.judge == "all" else _asked(pool, parameters), parameters)


def _stored(pool: Pool) -> Pooled:
    proposed = pool.proposals.order_by()
    by_image = proposed.values("image").annotate(captions=Count("caption", distinct=True))
    return Pooled(
        pairs=pool.n_pairs,
        captions=proposed.values("caption").distinct().count,
        captions_of_image=lambda: np.fromiter(by_image.values_list("captions", flat=True), np.int64),
        query_images=pool.sample.images.count,
    )


def _estimate(pooled: Pooled, parameters: PackParameters) -> PlanEstimate:
    hits = TASK_TYPES[parameters.task].count_hits(pooled, parameters.composition)
    cost = hits * parameters.seats * parameters.pay
    return PlanEstimate(scorings=[], pairs=pooled.pairs, hits=hits, cost=cost, judge=parameters.judge_design([]).judge)


def _asked(pool: Pool, parameters: PackParameters) -> Pooled:
    """Count the pairs that a round asks which does not ask all: with its seed, or as another draw of an audit would."""
    sides = number_collection(pool.collection)
    pairs = sides.pair_codes(
        pool.proposals.values_list("image_id", "caption_id").distinct().iterator(chunk_size=20_000)
    )
    asked = parameters.judge_design(queries_of(pool)).asked(pool, sides, pairs, parameters.seed or 0)
    images = np.unique(asked[:, 0], return_counts=True)[1]
    captions = len(np.unique(asked[:, 1]))
    return Pooled(len(asked), lambda: captions, lambda: images, pool.sample.images.count)


def _sizes(collection: Collection, parameters: RoundParameters) -> _Sizes:
    gallery = collection.images.gallery().count(), collection.captions.gallery().count()
    if not parameters.queries:
        check_drawable(collection, images=parameters.images, captions=parameters.captions)
        return _Sizes(parameters.images, parameters.captions, *gallery)
    sample = Sample.objects.named(parameters.queries)
    return _Sizes(sample.images.count(), sample.captions.count(), *gallery)


def _scoring(annotator: Annotator, pairs: int) -> ScoringEstimate:
    earlier = annotator.retrievals.filter(gallery=None).select_related("collection", "sample").first()
    return ScoringEstimate(annotator.name, pairs, pairs * earlier.seconds / _pairs_of(earlier) if earlier else None)


def _pairs_of(retrieval: Retrieval) -> int:
    gallery = retrieval.collection.images.gallery().count(), retrieval.collection.captions.gallery().count()
    sample = retrieval.sample
    queries = (sample.images.count(), sample.captions.count()) if sample else gallery
    return max(1, _Sizes(*queries, *gallery).pairs(retrieval.cascade_depth))
