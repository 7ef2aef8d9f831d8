"""Samples of queries, annotators, their searches, and the pools of what they propose."""

from datetime import datetime
from typing import Any, Literal

from django.db.models import QuerySet
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Query, Schema

from console.annotators.figures import learns
from console.annotators.ranked_rows import COLUMNS, ranked_rows
from console.annotators.sent_annotators import SentAnnotator, shown_options
from console.api.bearer import ApiRequest
from console.api.keysets import Place, part_of
from console.api.operations import Resources
from console.api.problems import Problem
from console.api.row_files import FILES, as_file
from console.home.resources import JobAnswer
from console.pagination import count_of
from console.upload_jobs import add_annotator as add_annotator_job
from console.uploads import start_with_sent
from core.models import Job
from core.parameters import values_of
from corpus.collection_parameters import SampleParameters
from corpus.models import Collection, Sample
from corpus.samples import sample_queries
from mitl.annotators import kind_of, kinds
from mitl.asked_pools import open_pooling
from mitl.models import Annotator, Pool, Retrieval
from mitl.options import CompanionFile, ServerText
from mitl.search.asked_searches import open_search
from mitl.search_parameters import GallerySearchParameters, PoolParameters
from mitl.training.train_parameters import TrainParameters
from mitl.training.trainer import open_training

resources = Resources("Retrieval")


class SampleAnswer(Schema):
    """A fixed set of queries: so many images and captions, drawn by the seed or listed."""

    name: str
    collection: str
    images: int
    captions: int
    seed: int
    created_at: datetime


class Samples(Schema):
    """A part of the list of samples, by name."""

    results: list[SampleAnswer]
    next: str | None


class OptionAnswer(Schema):
    """A setting of a kind of annotators. ``by``: a call sets it among the ``options``, as a file among the ``files``,
    or only the operator does."""

    name: str
    default: str | float
    description: str
    values: list[str]
    by: Literal["options", "files", "operator"]


class KindAnswer(Schema):
    """A kind of annotators: whether it needs files, can be trained, and scores pair by pair; its losses, the default
    first, and its settings."""

    kind: str
    checkpoint: Literal["required", "optional", "none"]
    learns: bool
    pair_by_pair: bool
    losses: list[str]
    options: list[OptionAnswer]


class Kinds(Schema):
    """All kinds of annotators."""

    results: list[KindAnswer]
    next: None


class AnnotatorAnswer(Schema):
    """A model that proposes pairs: its settings, the SHA-256 of its weights, what it was trained on, and where the
    weights come from. ``learns``: whether it can be trained here."""

    name: str
    url: str
    kind: str
    options: dict[str, Any]
    checksum: str
    learns: bool
    trained_on: dict[str, Any]
    architecture: dict[str, Any]
    source: str
    licence: str
    searches: int
    created_at: datetime


class Annotators(Schema):
    """A part of the list of annotators, by name."""

    results: list[AnnotatorAnswer]
    next: str | None


class RetrievalAnswer(Schema):
    """The lists that one annotator made of a gallery, for the queries of a sample or for all. ``gallery``: what was
    searched beyond the collection's rows."""

    id: int
    url: str
    annotator: str
    collection: str
    sample: str | None
    gallery: str | None
    depth: int
    engine: str
    cascade: str | None
    cascade_depth: int | None
    rerank: str
    sha256: str
    seconds: float
    created_at: datetime


class Retrievals(Schema):
    """A part of the list of searches, the latest first."""

    results: list[RetrievalAnswer]
    next: str | None


class PoolAnswer(Schema):
    """The pairs of the first ``top_k`` places of several annotators' lists. ``filtered_from``: the pool before unlikely
    pairs were dropped, by ``threshold``; ``beyond``: the match source whose pairs were left out."""

    name: str
    url: str
    collection: str
    sample: str
    annotators: list[str]
    top_k: int
    control_depth: int
    directions: list[str]
    seed: int
    filtered_from: str | None
    threshold: float | None
    beyond: str
    pairs: int
    proposals: int
    created_at: datetime


class Pools(Schema):
    """A part of the list of pools, the latest first."""

    results: list[PoolAnswer]
    next: str | None


@resources.reads("/samples", "retrieval:read", Samples)
def samples(request: ApiRequest, place: Query[Place], collection: str = "") -> dict[str, Any]:
    """List the samples by name; of one collection, if it is named."""
    rows = _samples()
    found = part_of(rows.filter(collection__name=collection) if collection else rows, place, key="name")
    return found | {"results": [_of_sample(one) for one in found["results"]]}


@resources.acts("/samples", "retrieval:write", SampleAnswer, status=201)
def draw_sample(request: ApiRequest, parameters: SampleParameters) -> dict[str, Any]:
    """Draw a sample of queries from a gallery: so many images and captions, by the seed. One of this name with the same
    queries is returned as it is."""
    made = sample_queries(
        parameters.name,
        collection=Collection.objects.named(parameters.collection),
        images=parameters.images,
        captions=parameters.captions,
        uncaptioned=parameters.uncaptioned,
        seed=parameters.seed,
        actor=request.user.get_username(),
    )
    return _of_sample(_samples().get(pk=made.pk))


@resources.reads("/annotator-kinds", "retrieval:read", Kinds)
def annotator_kinds(request: ApiRequest) -> dict[str, Any]:
    """List the kinds of annotators, with their settings."""
    return {"results": [_of_kind(kind) for kind in kinds()], "next": None}


@resources.reads("/annotators", "retrieval:read", Annotators)
def annotators(request: ApiRequest, place: Query[Place]) -> dict[str, Any]:
    """List the annotators by name."""
    found = part_of(_annotators(), place, key="name")
    return found | {"results": [_of_annotator(one) for one in found["results"]]}


@resources.acts("/annotators", "retrieval:write", JobAnswer)
def add_annotator(request: ApiRequest, parameters: SentAnnotator) -> Job:
    """Add an annotator of a kind, with uploaded weights, embeddings or lists, or to be trained."""
    if Annotator.objects.filter(name=parameters.name).exists():
        raise Problem(409, f"There is an annotator {parameters.name} already. Choose another name.")
    sent = parameters.sent()
    if parameters.collection:
        Collection.objects.named(parameters.collection)
    title = f"Add annotator {parameters.name}"
    return start_with_sent(title, add_annotator_job.name, parameters.params(), sent, by=request.user)


@resources.reads("/annotators/{name}", "retrieval:read", AnnotatorAnswer, url_name="annotator")
def annotator(request: ApiRequest, name: str) -> dict[str, Any]:
    """Tell of an annotator."""
    return _of_annotator(get_object_or_404(_annotators(), name=name))


@resources.acts("/annotators/{name}/train", "retrieval:write", JobAnswer)
def train_annotator(request: ApiRequest, name: str, parameters: TrainParameters) -> Job:
    """Train an annotator on a collection. An interrupted training goes on after its last epoch."""
    get_object_or_404(Annotator, name=name)
    Collection.objects.named(parameters.collection)
    return open_training(parameters, by=request.user)


@resources.reads("/retrievals", "retrieval:read", Retrievals)
def retrievals(request: ApiRequest, place: Query[Place], collection: str = "", annotator: str = "") -> dict[str, Any]:
    """List the searches, the latest first; of one collection or annotator, if it is named."""
    named = {"collection__name": collection, "annotator__name": annotator}
    rows = _retrievals().filter(**{field: name for field, name in named.items() if name})
    found = part_of(rows, place, key="id", newest="created_at")
    return found | {"results": [_of_retrieval(one) for one in found["results"]]}


@resources.acts("/retrievals", "retrieval:write", JobAnswer)
def search_gallery(request: ApiRequest, parameters: GallerySearchParameters) -> Job:
    """Have annotators search a gallery for a sample's queries, or for all. Searches that were made before, by the same
    weights, are not made again."""
    return open_search(parameters, by=request.user)


@resources.reads("/retrievals/{int:id}", "retrieval:read", RetrievalAnswer, url_name="retrieval")
def retrieval(request: ApiRequest, id: int) -> dict[str, Any]:
    """Tell of a search."""
    return _of_retrieval(get_object_or_404(_retrievals(), pk=id))


@resources.reads("/retrievals/{int:id}/lists", "retrieval:read", None, files=FILES)
def ranked_lists(request: ApiRequest, id: int, format: Literal["jsonl", "parquet"] = "parquet") -> HttpResponseBase:
    """Download the lists of a search: a row a place, with the keys of query and item, rank, score and direction."""
    found = get_object_or_404(Retrieval, pk=id)
    return as_file(ranked_rows(found), COLUMNS, format, f"retrieval-{found.pk}")


@resources.reads("/pools", "retrieval:read", Pools)
def pools(request: ApiRequest, place: Query[Place], collection: str = "") -> dict[str, Any]:
    """List the pools, the latest first; of one collection, if it is named."""
    rows = _pools()
    found = part_of(
        rows.filter(collection__name=collection) if collection else rows, place, key="name", newest="created_at"
    )
    return found | {"results": [_of_pool(one) for one in found["results"]]}


@resources.acts("/pools", "retrieval:write", JobAnswer)
def make_pool(request: ApiRequest, parameters: PoolParameters) -> Job:
    """Join the first places of the annotators' newest lists into pairs to be judged."""
    return open_pooling(parameters, by=request.user)


@resources.reads("/pools/{name}", "retrieval:read", PoolAnswer, url_name="pool")
def pool(request: ApiRequest, name: str) -> dict[str, Any]:
    """Tell of a pool."""
    return _of_pool(get_object_or_404(_pools(), name=name))


def _samples() -> QuerySet[Sample]:
    return Sample.objects.select_related("collection").annotate(
        n_images=count_of(Sample.images.through, "sample"), n_captions=count_of(Sample.captions.through, "sample")
    )


def _of_sample(sample: Any) -> dict[str, Any]:
    return {
        **{name: getattr(sample, name) for name in ("name", "seed", "created_at")},
        **{"collection": sample.collection.name, "images": sample.n_images, "captions": sample.n_captions},
    }


def _of_kind(kind: str) -> dict[str, Any]:
    properties = kind_of(kind)
    by: dict[type, str] = {CompanionFile: "files", ServerText: "operator"}
    options = [
        {
            **{"name": name, "default": field.initial, "description": str(field.help_text)},
            **{"values": values_of(field), "by": by.get(type(field), "options")},
        }
        for name, field in properties.options.items()
    ]
    return {
        **{"kind": kind, "checkpoint": properties.checkpoint, "learns": properties.learns},
        **{"pair_by_pair": properties.cross_encoder, "losses": properties.losses, "options": options},
    }


def _annotators() -> QuerySet[Annotator]:
    return Annotator.objects.annotate(n_retrievals=count_of(Retrieval, "annotator"))


def _of_annotator(annotator: Any) -> dict[str, Any]:
    names = ("name", "kind", "checksum", "trained_on", "architecture", "source", "licence", "created_at")
    return {name: getattr(annotator, name) for name in names} | {
        "url": reverse("api:annotator", args=[annotator.name]),
        "options": shown_options(annotator),
        "learns": annotator.kind in kinds() and learns(annotator),
        "searches": annotator.n_retrievals,
    }


def _retrievals() -> QuerySet[Retrieval]:
    return Retrieval.objects.select_related("annotator", "collection", "sample", "gallery", "cascade")


def _of_retrieval(retrieval: Retrieval) -> dict[str, Any]:
    names = ("id", "depth", "engine", "cascade_depth", "rerank", "sha256", "seconds", "created_at")
    rows = ("annotator", "collection", "sample", "gallery", "cascade")
    return {
        **{name: getattr(retrieval, name) for name in names},
        **{name: row and row.name for name in rows for row in [getattr(retrieval, name)]},
        "url": reverse("api:retrieval", args=[retrieval.pk]),
    }


def _pools() -> QuerySet[Pool]:
    related = ("collection", "sample", "filtered_from")
    return Pool.objects.of_lists().select_related(*related).prefetch_related("retrievals__annotator")


def _of_pool(pool: Pool) -> dict[str, Any]:
    names = ("name", "top_k", "control_depth", "directions", "seed", "threshold", "beyond", "created_at")
    return {name: getattr(pool, name) for name in names} | {
        "url": reverse("api:pool", args=[pool.name]),
        "collection": pool.collection.name,
        "sample": pool.sample.name,
        "annotators": sorted(one.annotator.name for one in pool.retrievals.all()),
        "filtered_from": pool.filtered_from and pool.filtered_from.name,
        "pairs": pool.n_pairs,
        "proposals": pool.n_proposals,
    }
