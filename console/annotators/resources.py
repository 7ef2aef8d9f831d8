"""Samples of queries, annotators, their searches, and the pools of what they propose."""

from typing import Any, Literal

from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from ninja import Query

from console.annotators.forms import SentAnnotator
from console.annotators.schemas import (
    AnnotatorAnswer,
    Kinds,
    PoolAnswer,
    RetrievalAnswer,
    SampleAnswer,
    counted_annotators,
    counted_samples,
    of_kind,
    related_pools,
    searches,
)
from console.annotators.search_examples import COLUMNS, ranked_rows
from console.api.bearer import ApiRequest
from console.api.file_answers import FILES, as_file
from console.api.keysets import Place, part_of
from console.api.operations import Resources
from console.api.problems import Problem
from console.home.resources import JobAnswer
from console.upload_jobs import add_annotator as add_annotator_job
from console.uploads import start_with_sent
from core.models import Job
from corpus.collection_parameters import SampleParameters
from corpus.models import Collection, Sample
from corpus.samples import sample_queries
from dataset.secret_controls import refuse_secret_pairs
from mitl.annotators import kinds
from mitl.jobs import open_pooling, open_search
from mitl.models import Annotator, Pool, Retrieval
from mitl.search.search_parameters import GallerySearchParameters, PoolParameters
from mitl.training.trainer import TrainParameters, open_training

resources = Resources("Retrieval")


@resources.lists("/samples", "retrieval:read", SampleAnswer, "A part of the list of samples, by name.")
def samples(request: ApiRequest, place: Query[Place], collection: str = "") -> dict[str, Any]:
    """List the samples by name; of one collection, if it is named."""
    rows = counted_samples()
    return part_of(rows.filter(collection__name=collection) if collection else rows, place, key="name")


@resources.acts("/samples", "retrieval:write", SampleAnswer, status=201)
def draw_sample(request: ApiRequest, parameters: SampleParameters) -> Sample:
    """Draw a sample of queries from a gallery: the given numbers of images and captions, by the seed. A sample of this
    name with the same queries is returned unchanged."""
    given = {**vars(parameters), "collection": Collection.objects.named(parameters.collection)}
    made = sample_queries(**given, actor=request.user.get_username())
    return counted_samples().get(pk=made.pk)


@resources.reads("/annotator-kinds", "retrieval:read", Kinds)
def annotator_kinds(request: ApiRequest) -> dict[str, Any]:
    """List the kinds of annotators, with their settings."""
    return {"results": [of_kind(kind) for kind in kinds()], "next": None}


@resources.lists("/annotators", "retrieval:read", AnnotatorAnswer, "A part of the list of annotators, by name.")
def annotators(request: ApiRequest, place: Query[Place]) -> dict[str, Any]:
    """List the annotators by name."""
    return part_of(counted_annotators(), place, key="name")


@resources.acts("/annotators", "retrieval:write", JobAnswer)
def add_annotator(request: ApiRequest, parameters: SentAnnotator) -> Job:
    """Add an annotator of a kind, with uploaded weights, embeddings or lists, or to be trained."""
    if Annotator.objects.filter(name=parameters.name).exists():
        raise Problem(409, f"Annotator {parameters.name} already exists. Choose another name.")
    sent = parameters.sent()
    if parameters.collection:
        Collection.objects.named(parameters.collection)
    title = f"Add annotator {parameters.name}"
    params = parameters.as_json()
    del params["checkpoint"], params["files"]
    return start_with_sent(title, add_annotator_job.name, params, sent, by=request.user)


@resources.reads("/annotators/{name}", "retrieval:read", AnnotatorAnswer, url_name="annotator")
def annotator(request: ApiRequest, name: str) -> Annotator:
    """Describe an annotator."""
    return get_object_or_404(counted_annotators(), name=name)


@resources.acts("/annotators/{name}/train", "retrieval:write", JobAnswer)
def train_annotator(request: ApiRequest, name: str, parameters: TrainParameters) -> Job:
    """Train an annotator on a collection. An interrupted training goes on after its last epoch."""
    get_object_or_404(Annotator, name=name)
    Collection.objects.named(parameters.collection)
    return open_training(parameters, by=request.user)


@resources.lists("/retrievals", "retrieval:read", RetrievalAnswer, "A part of the list of searches, the latest first.")
def retrievals(request: ApiRequest, place: Query[Place], collection: str = "", annotator: str = "") -> dict[str, Any]:
    """List the searches, the latest first; of one collection or annotator, if it is named."""
    named = {"collection__name": collection, "annotator__name": annotator}
    rows = searches().filter(**{field: name for field, name in named.items() if name})
    return part_of(rows, place, key="id", newest="created_at")


@resources.acts("/retrievals", "retrieval:write", JobAnswer)
def search_gallery(request: ApiRequest, parameters: GallerySearchParameters) -> Job:
    """Have annotators search a gallery for a sample's queries, or for all. Searches that were made before, by the same
    weights, are not made again."""
    return open_search(parameters, by=request.user)


@resources.reads("/retrievals/{int:id}", "retrieval:read", RetrievalAnswer, url_name="retrieval")
def retrieval(request: ApiRequest, id: int) -> Retrieval:
    """Describe a search."""
    return get_object_or_404(searches(), pk=id)


@resources.reads("/retrievals/{int:id}/lists", "retrieval:read", None, files=FILES)
def ranked_lists(request: ApiRequest, id: int, format: Literal["jsonl", "parquet"] = "parquet") -> HttpResponseBase:
    """Download the lists of a search: a row a place, with the keys of query and item, rank, score and direction."""
    retrieval = get_object_or_404(Retrieval.objects.select_related("collection"), pk=id)
    refuse_secret_pairs(retrieval.collection, request.user)
    return as_file(ranked_rows(retrieval), COLUMNS, format, f"retrieval-{retrieval.pk}")


@resources.lists("/pools", "retrieval:read", PoolAnswer, "A part of the list of pools, the latest first.")
def pools(request: ApiRequest, place: Query[Place], collection: str = "") -> dict[str, Any]:
    """List the pools, the latest first; of one collection, if it is named."""
    rows = related_pools().of_lists()
    named = rows.filter(collection__name=collection) if collection else rows
    return part_of(named, place, key="name", newest="created_at")


@resources.acts("/pools", "retrieval:write", JobAnswer)
def make_pool(request: ApiRequest, parameters: PoolParameters) -> Job:
    """Join the first places of the annotators' newest lists into pairs to be judged."""
    return open_pooling(parameters, by=request.user)


@resources.reads("/pools/{name}", "retrieval:read", PoolAnswer, url_name="pool")
def pool(request: ApiRequest, name: str) -> Pool:
    """Describe a pool."""
    return get_object_or_404(related_pools().of_lists(), name=name)
