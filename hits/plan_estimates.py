"""What planning and publishing a round would take, before anything is searched: pairs to score, HITs and cost."""

from dataclasses import dataclass, replace
from decimal import Decimal
from math import ceil

from corpus.models import Collection, Sample
from hits.round_parameters import PackParameters, RoundParameters
from mitl.annotators import is_cross_encoder
from mitl.models import Annotator, Direction, Retrieval

MANY = 20_000  # pairs: minutes of a network that reads picture and caption together


@dataclass(frozen=True)
class Scoring:
    """The pairs that a cross-encoder scores, at most; the time is by its latest search, None without one."""

    annotator: str
    pairs: int
    seconds: float | None


@dataclass(frozen=True)
class PlanEstimate:
    """The searches of cross-encoders, and the pairs, HITs and US dollars of the round at most: annotators agree on
    pairs, which are then asked once."""

    scorings: list[Scoring]
    pairs: int
    hits: int
    cost: Decimal

    @property
    def is_long(self) -> bool:
        return any(one.pairs > MANY for one in self.scorings)


@dataclass(frozen=True)
class _Sizes:
    """Numbers of query images and query captions, and of the images and captions of the gallery."""

    images: int
    captions: int
    gallery_images: int
    gallery_captions: int

    def pairs(self, depth: int | None) -> int:
        """Pairs of all queries with the first ``depth`` of their lists, or with the whole gallery for None."""
        first, second = self.gallery_captions, self.gallery_images
        if depth is not None:
            first, second = min(depth, first), min(depth, second)
        return self.images * first + self.captions * second


def estimate_plan(parameters: RoundParameters) -> PlanEstimate:
    """Count what the round would take. Raises CounterpartError for an unknown collection, sample or annotator."""
    collection = Collection.objects.named(parameters.collection)
    sizes = _sizes(collection, parameters)
    annotators = Annotator.objects.all_named(parameters.annotators)
    depth = parameters.cascade_depth if parameters.cascade else None
    asked = {
        Direction.IMAGE_TO_CAPTION.value: sizes.images * min(parameters.top_k, sizes.gallery_captions),
        Direction.CAPTION_TO_IMAGE.value: sizes.captions * min(parameters.top_k, sizes.gallery_images),
    }
    pairs = len(annotators) * sum(n for one, n in asked.items() if parameters.direction in ("both", one))
    scorings = [_scoring(one, sizes.pairs(depth)) for one in annotators if is_cross_encoder(one)]
    return replace(estimate_round(pairs, parameters), scorings=scorings)


def estimate_round(pairs: int, parameters: PackParameters) -> PlanEstimate:
    """Count the HITs that ``pairs`` fill, and their rewards in US dollars."""
    hits = ceil(pairs / parameters.composition.candidates)
    return PlanEstimate(scorings=[], pairs=pairs, hits=hits, cost=hits * parameters.seats * parameters.reward)


def _sizes(collection: Collection, parameters: RoundParameters) -> _Sizes:
    gallery = collection.images.gallery().count(), collection.captions.gallery().count()
    if not parameters.queries:
        return _Sizes(parameters.images, parameters.captions, *gallery)
    sample = Sample.objects.named(parameters.queries)
    return _Sizes(sample.images.count(), sample.captions.count(), *gallery)


def _scoring(annotator: Annotator, pairs: int) -> Scoring:
    earlier = annotator.retrievals.select_related("collection", "sample").first()
    return Scoring(annotator.name, pairs, pairs * earlier.seconds / _pairs_of(earlier) if earlier else None)


def _pairs_of(retrieval: Retrieval) -> int:
    gallery = retrieval.collection.images.gallery().count(), retrieval.collection.captions.gallery().count()
    sample = retrieval.sample
    queries = (sample.images.count(), sample.captions.count()) if sample else gallery
    return max(1, _Sizes(*queries, *gallery).pairs(retrieval.cascade_depth))
