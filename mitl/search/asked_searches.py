"""Searches as commands and calls ask for them, by names; made now, or by a job."""

from dataclasses import replace

from django.contrib.auth.models import User

from core.errors import CounterpartError
from core.models import Job
from core.progress import Progress, silent
from core.work.jobs import open_once
from corpus.models import Collection, Gallery, Sample
from mitl.models import Annotator, Retrieval
from mitl.search.by_parts import retrieve_by_parts
from mitl.search.gallery import open_gallery
from mitl.search.request import Cascade, Search
from mitl.search.rerank import parse_steps
from mitl.search.retrieval import retrieve
from mitl.search.search_parameters import GallerySearchParameters

TASK = "mitl.tasks.retrieve"


def search_of(parameters: GallerySearchParameters) -> Search:
    """Return the search. Raises CounterpartError for unknown names and options that exclude each other."""
    others = [f"--{name}" for name in ("cascade", "rerank", "tune", "estimate") if getattr(parameters, name, False)]
    others += ["--engine faiss"] if parameters.engine == "faiss" else []
    if parameters.by_parts and others:
        raise CounterpartError(
            f"--engine-on, --shards and --gallery are only for plain, exact searches, not with {', '.join(others)};"
            " leave one or the other out."
        )
    collection = Collection.objects.named(parameters.collection)
    sample = Sample.objects.named(parameters.queries) if parameters.queries else None
    annotators = Annotator.objects.all_named(parameters.annotators)
    first = Annotator.objects.named(parameters.cascade) if parameters.cascade else None
    listed = Gallery.objects.named(parameters.gallery) if parameters.gallery else None
    return Search(
        gallery=open_gallery(collection, sample, listed),
        annotators=annotators,
        depth=parameters.depth,
        engine=parameters.engine,
        device=parameters.device,
        cascade=Cascade(first, parameters.cascade_depth) if first else None,
        rerank=parse_steps(parameters.rerank) if parameters.rerank else (),
    )


def open_search(parameters: GallerySearchParameters, *, by: User) -> Job:
    """Open the job of a search, or return the unfinished one of the same. Raises CounterpartError as ``search_of``, and
    where the search is impossible."""
    search = replace(search_of(parameters), device="cpu").checked()  # that of the worker, not of this process
    title = f"Retrieve {', '.join(parameters.annotators)} over {search.gallery.listed or parameters.collection}"
    return open_once(title[:200], TASK, parameters.as_json(), lock=search.annotators[0], by=by)


def make_search(parameters: GallerySearchParameters, *, actor: str, progress: Progress = silent) -> list[Retrieval]:
    """Make a search in this process; what was made before is returned as it is.

    Raises CounterpartError as ``search_of``, ``retrieve`` and ``retrieve_by_parts`` do.
    """
    search = search_of(parameters)
    if not parameters.by_parts:
        return retrieve(search, actor=actor, progress=progress)
    return [
        retrieve_by_parts(search, annotator, engine="local", shards=parameters.shards, actor=actor, progress=progress)
        for annotator in search.annotators
    ]
