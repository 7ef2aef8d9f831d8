"""The kinds of things for the commands list, show and remove: how the API describes a row, what depends on it, and how
it is deleted."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial
from typing import Annotated, Any

from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import QuerySet
from ninja import Field, Schema

from annotation.models import Assignment, Participant, QualificationTest
from console.annotators.schemas import (
    AnnotatorAnswer,
    PoolAnswer,
    RetrievalAnswer,
    SampleAnswer,
    counted_annotators,
    counted_samples,
    related_pools,
    searches,
)
from console.api.row_fields import Named
from console.collections.schemas import CollectionAnswer, counted_collections, with_sources
from console.home.resources import JobAnswer
from console.rounds.schemas import RoundAnswer, RoundDetail, RoundState, counted_rounds, with_states
from console.versions.schemas import VERSIONS, VersionAnswer, VersionLine, describe_version, line_of
from core.errors import CounterpartError
from core.files.stored_files import StoredFile, remove_file
from core.models import Job
from corpus.models import Collection, Gallery, Sample
from dataset.models import Review, Version
from evaluation.models import Run
from hits.models import Item, Round
from mitl.models import Annotator, Pool, Retrieval
from mitl.search.store import delete_retrieval

Figures = dict[str, Any]
MAKES_CHART = "console.tasks.chart"
COUNTS_PART = "console.tasks.round_part"


class Thing(ABC):
    """A kind of thing. ``key`` is the field that names a row, and ``made_by`` the command that makes one.

    ``answer`` is what the API says of each row in a list and ``detail`` of one row, if that is more; ``columns`` of
    the answer make a table.
    """

    rows: QuerySet[Any]
    made_by: str
    answer: type[Schema]
    detail: type[Schema] | None = None
    columns: tuple[str, ...]
    key = "name"

    def read(self, rows: Iterable[Any]) -> Iterable[Any]:
        """Return rows as ``answer`` reads them, with the same number of queries for many rows as for one."""
        return rows

    def read_one(self, row: Any) -> Any:
        """Return a row as ``detail`` reads it."""
        (found,) = self.read([row])
        return found

    @abstractmethod
    def needed_by(self, row: Any) -> Mapping[str, Iterable[Any]]:
        """Return what depends on the row; with any, it cannot be removed."""

    def delete(self, row: Any) -> list[StoredFile]:
        """Delete the row; return the stored files that go with it."""
        row.delete()
        return []


class Collections(Thing):
    rows = counted_collections()
    made_by = "import_collection"
    answer = CollectionAnswer
    columns = ("name", "images", "captions", "samples")

    def read(self, rows: Iterable[Collection]) -> Iterable[Collection]:
        return with_sources(list(rows))

    def needed_by(self, collection: Collection) -> Mapping[str, Iterable[Any]]:
        return {
            "samples": collection.samples.all(),
            "galleries": collection.galleries.all(),
            "searches": collection.retrievals.all(),
            "pools": collection.pools.all(),
            "versions": collection.versions.all(),
            "scored rankings": Run.objects.filter(collection=collection),
            "tests": QualificationTest.objects.filter(collection=collection),
            "reviews": Review.objects.filter(collection=collection).values_list("pk", flat=True),
        }

    def delete(self, collection: Collection) -> list[StoredFile]:
        pictures = collection.images.exclude(file="").order_by().values_list("file", "sha256").distinct()
        files = [StoredFile(*picture) for picture in pictures]
        collection.delete()
        return files


class Annotators(Thing):
    rows = counted_annotators()
    made_by = "add_annotator"
    answer = AnnotatorAnswer
    columns = ("name", "kind", "searches", "created_at")

    def needed_by(self, annotator: Annotator) -> Mapping[str, Iterable[Any]]:
        cascades = Retrieval.objects.filter(cascade=annotator).exclude(annotator=annotator)
        return {
            "pools": Pool.objects.filter(retrievals__annotator=annotator).distinct(),
            "searches as a cascade": cascades,
            "scored rankings": Run.objects.filter(retrieval__annotator=annotator),
        }

    def delete(self, annotator: Annotator) -> list[StoredFile]:
        files = [one.stored for one in annotator.retrievals.all()]
        if annotator.checkpoint and not Annotator.objects.filter(checkpoint=annotator.checkpoint).exclude(
            pk=annotator.pk
        ):
            files.append(StoredFile(annotator.checkpoint, annotator.checksum))
        annotator.retrievals.all().delete()
        annotator.delete()
        return files


class Samples(Thing):
    rows = counted_samples()
    made_by = "sample_queries"
    answer = SampleAnswer
    columns = ("name", "collection", "images", "captions", "seed")

    def needed_by(self, sample: Sample) -> Mapping[str, Iterable[Any]]:
        searches = Retrieval.objects.filter(sample=sample)
        return {"pools": sample.pools.all(), "versions": Version.objects.filter(sample=sample), "searches": searches}


class GalleryAnswer(Schema):
    """What is searched beyond the rows of a collection."""

    name: str
    collection: Named
    images: Annotated[int, Field(validation_alias="n_images")]
    captions: Annotated[int, Field(validation_alias="n_captions")]
    digest: str
    created_at: datetime


class Galleries(Thing):
    rows = Gallery.objects.select_related("collection")
    made_by = "import_gallery"
    answer = GalleryAnswer
    columns = ("name", "collection", "images", "captions")

    def needed_by(self, gallery: Gallery) -> Mapping[str, Iterable[Any]]:
        return {"searches": gallery.retrievals.all()}

    def delete(self, gallery: Gallery) -> list[StoredFile]:
        """Delete a gallery with its parts and all embeddings. Items that became rows stay, with their pictures."""
        transaction.on_commit(partial(_remove_files, gallery))  # not before: the storage lists the files
        gallery.delete()
        return []


class Retrievals(Thing):
    rows = searches()
    made_by = "retrieve"
    answer = RetrievalAnswer
    columns = ("id", "annotator", "collection", "gallery", "sample", "depth")
    key = "id"

    def needed_by(self, retrieval: Retrieval) -> Mapping[str, Iterable[Any]]:
        return {"pools": retrieval.pools.all(), "scored rankings": Run.objects.filter(retrieval=retrieval)}

    def delete(self, retrieval: Retrieval) -> list[StoredFile]:
        return delete_retrieval(retrieval)


class Pools(Thing):
    rows = related_pools()
    made_by = "the command pool"
    answer = PoolAnswer
    columns = ("name", "collection", "sample", "pairs", "proposals")

    def needed_by(self, pool: Pool) -> Mapping[str, Iterable[Any]]:
        return {"rounds": pool.rounds.all(), "filtered pools": Pool.objects.filter(filtered_from=pool)}


class Rounds(Thing):
    rows = counted_rounds()
    made_by = "pack or plan_round"
    answer = RoundAnswer
    detail = RoundDetail
    columns = ("name", "state", "channel", "hits", "progress.filled", "progress.wanted", "progress.flagged")

    def read(self, rows: Iterable[Round]) -> Iterable[RoundState]:
        return with_states(rows)

    def needed_by(self, round_: Round) -> Mapping[str, Iterable[Any]]:
        return {
            "versions": round_.versions.all(),
            "publications": [round_.channel] if round_.published_at else [],
            "assignments": Assignment.objects.filter(hit__round=round_),
            "workers": Participant.objects.filter(round=round_).values_list("worker__pseudonym", flat=True),
        }

    def delete(self, round_: Round) -> list[StoredFile]:
        """Delete a draft, items before the controls that they ask."""
        Item.objects.filter(hit__round=round_).delete()
        round_.delete()
        return []


class Versions(Thing):
    rows = VERSIONS.all()
    made_by = "release"
    answer = VersionLine
    detail = VersionAnswer
    columns = ("name", "collection", "sample", "released_at")

    def read(self, rows: Iterable[Version]) -> Iterable[Figures]:
        return map(line_of, rows)

    def read_one(self, row: Version) -> Figures:
        return describe_version(row)

    def needed_by(self, version: Version) -> Mapping[str, Iterable[Any]]:
        raise CounterpartError(f"Version {version} cannot be removed: a released version never changes.")


class Jobs(Thing):
    rows = Job.objects.all()
    made_by = "plan_round --background"
    answer = JobAnswer
    columns = ("id", "title", "state", "step", "done", "total")
    key = "id"

    def needed_by(self, job: Job) -> Mapping[str, Iterable[Any]]:
        return {"processes": [job.state] if job.state in (Job.State.QUEUED, Job.State.RUNNING) else []}

    def delete(self, job: Job) -> list[StoredFile]:
        """Delete a job that has ended, with the figures, the chart or the part of a page that it made."""
        from console.charts.plots import CHARTED, chart_path  # slow to import, as what draws and measures is
        from console.leaderboard.benchmark_boards import figures_path
        from console.trust.round_parts import part_path

        files = [figures_path(job)]
        params = job.params
        if job.task == MAKES_CHART:
            things = CHARTED[params["kind"]].filter(name=params["name"])
            files += [chart_path(thing, params["subject"], params["annotator"]) for thing in things]
        if job.task == COUNTS_PART:
            files += [part_path(one, params["part"]) for one in Round.objects.filter(name=params["round"])]
        job.delete()
        for file in files:
            transaction.on_commit(partial(default_storage.delete, file))
        return []


def _remove_files(gallery: Gallery) -> None:
    from corpus.galleries.gallery_imports import files_of  # slow to import, as what reads Parquet is
    from mitl.search.gallery_embeddings import kept_embeddings

    for file in kept_embeddings(gallery) + files_of(gallery):
        remove_file(file)


THINGS: dict[str, Thing] = {
    "collections": Collections(),
    "annotators": Annotators(),
    "samples": Samples(),
    "galleries": Galleries(),
    "retrievals": Retrievals(),
    "pools": Pools(),
    "rounds": Rounds(),
    "versions": Versions(),
    "jobs": Jobs(),
}
