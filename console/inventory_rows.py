"""The kinds of things for the commands list, show, remove and rename: how the API describes a row, what depends on it,
and how it is deleted."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial
from typing import Annotated, Any

from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q
from ninja import Field, Schema

from annotation.models import Assignment, Participant, QualificationTest, TestItem
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
from console.import_rows import Batches, Sources, files_of_pictures, rename_taught, unused_files
from console.pagination import count_of
from console.rounds.schemas import RoundAnswer, RoundDetail, counted_rounds, with_states
from console.things import Figures, Thing
from console.versions.schemas import VERSIONS, VersionAnswer, VersionLine, describe_version, line_of
from core.errors import CounterpartError
from core.files.stored_files import StoredFile, remove_file
from core.models import Job
from corpus.models import Collection, Gallery, Sample
from dataset.models import Review, Version
from evaluation.models import Run
from hits.models import Item, Round
from hits.task_types.caption_writing import CAPTION
from mitl.models import Annotator, Pool, Retrieval
from mitl.search.store import delete_retrieval

MAKES_CHART = "console.tasks.chart"


class Collections(Thing):
    rows = counted_collections()
    answer = CollectionAnswer
    of_version = "collection"
    columns = ("name", "images", "captions", "samples")
    read = staticmethod(with_sources)

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

    def delete(self, collection: Collection, *, actor: str) -> list[StoredFile]:
        files = files_of_pictures(collection.images.all())
        collection.delete()
        return unused_files(files)

    def rename(self, collection: Collection, name: str) -> None:
        rename_taught(name, collection=collection.name)
        super().rename(collection, name)


class Annotators(Thing):
    rows = counted_annotators()
    answer = AnnotatorAnswer
    of_version = "rounds__pool__retrievals__annotator"
    columns = ("name", "kind", "searches", "created_at")

    def needed_by(self, annotator: Annotator) -> Mapping[str, Iterable[Any]]:
        cascades = Retrieval.objects.filter(cascade=annotator).exclude(annotator=annotator)
        return {
            "pools": Pool.objects.filter(retrievals__annotator=annotator).distinct(),
            "cascade searches": cascades,
            "scored rankings": Run.objects.filter(retrieval__annotator=annotator),
        }

    def delete(self, annotator: Annotator, *, actor: str) -> list[StoredFile]:
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
    answer = SampleAnswer
    of_version = "sample"
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
    answer = GalleryAnswer
    of_version = "rounds__pool__retrievals__gallery"
    columns = ("name", "collection", "images", "captions")

    def needed_by(self, gallery: Gallery) -> Mapping[str, Iterable[Any]]:
        return {"searches": gallery.retrievals.all()}

    def delete(self, gallery: Gallery, *, actor: str) -> list[StoredFile]:
        """Delete a gallery with its parts and all embeddings. Items that became rows stay, with their pictures."""
        transaction.on_commit(partial(_remove_files, gallery))  # not before: the storage lists the files
        return super().delete(gallery, actor=actor)


class Retrievals(Thing):
    rows = searches()
    made_by = "retrieve"
    answer = RetrievalAnswer
    columns = ("id", "annotator", "collection", "gallery", "sample", "depth")
    key = "id"

    def needed_by(self, retrieval: Retrieval) -> Mapping[str, Iterable[Any]]:
        return {"pools": retrieval.pools.all(), "scored rankings": Run.objects.filter(retrieval=retrieval)}

    def delete(self, retrieval: Retrieval, *, actor: str) -> list[StoredFile]:
        return delete_retrieval(retrieval)


class Pools(Thing):
    rows = related_pools()
    answer = PoolAnswer
    of_version = "rounds__pool"
    columns = ("name", "collection", "sample", "pairs", "proposals")

    def needed_by(self, pool: Pool) -> Mapping[str, Iterable[Any]]:
        return {"rounds": pool.rounds.all(), "filtered pools": Pool.objects.filter(filtered_from=pool)}


class Rounds(Thing):
    rows = counted_rounds()
    made_by = "pack or plan_round"
    answer = RoundAnswer
    detail = RoundDetail
    of_version = "rounds"
    columns = ("name", "state", "channel", "hits", "progress.filled", "progress.wanted", "progress.flagged")
    read = staticmethod(with_states)

    def needed_by(self, round_: Round) -> Mapping[str, Iterable[Any]]:
        if round_.published_at:
            return {"versions": round_.versions.all(), "publications": [round_.channel]}
        return {
            "versions": round_.versions.all(),
            "assignments": Assignment.objects.filter(hit__round=round_),
            "workers": Participant.objects.filter(round=round_).values_list("worker__pseudonym", flat=True),
        }

    def named_by(self, round_: Round) -> Mapping[str, Iterable[Any]]:
        """A platform's qualifications and the ids of written captions carry the name."""
        on_platform = [round_.channel] if round_.published_at and round_.settles else []
        writes = round_.task == CAPTION and round_.published_at
        named = super().named_by(round_)
        return {**named, "platforms": on_platform, "written captions": [round_.name] if writes else []}

    def delete(self, round_: Round, *, actor: str) -> list[StoredFile]:
        """Delete a draft, items before the controls that they ask."""
        Item.objects.filter(hit__round=round_).delete()
        return super().delete(round_, actor=actor)


class Versions(Thing):
    rows = VERSIONS.all()
    answer = VersionLine
    detail = VersionAnswer
    columns = ("name", "collection", "sample", "released_at")

    @staticmethod
    def read(rows: Iterable[Version]) -> Iterable[Figures]:
        return map(line_of, rows)

    def read_one(self, row: Version) -> Figures:
        return describe_version(row)

    def needed_by(self, version: Version) -> Mapping[str, Iterable[Any]]:
        raise CounterpartError(f"Version {version} cannot be removed: a released version never changes.")

    def named_by(self, version: Version) -> Mapping[str, Iterable[Any]]:
        return {"manifests": [version.name]}


class TestAnswer(Schema):
    """A qualification test: right answers that pass, and the tries that a worker has."""

    name: str
    collection: Named
    items: Annotated[int, Field(validation_alias="n_items")]
    pass_mark: int
    attempts: int
    seed: int
    created_at: datetime


class Tests(Thing):
    rows = QualificationTest.objects.select_related("collection").annotate(n_items=count_of(TestItem, "test"))
    answer = TestAnswer
    of_version = "rounds__admission__test"
    columns = ("name", "collection", "items", "pass_mark")

    def needed_by(self, test: QualificationTest) -> Mapping[str, Iterable[Any]]:
        asking = Round.objects.filter(Q(admission__test=test) | Q(admission__practice=test))
        return {"rounds": asking.distinct(), "tries": test.tries.values_list("pk", flat=True)}


class Jobs(Thing):
    rows = Job.objects.all()
    made_by = "plan_round --background"
    answer = JobAnswer
    columns = ("id", "title", "state", "step", "done", "total")
    key = "id"

    def needed_by(self, job: Job) -> Mapping[str, Iterable[Any]]:
        return {"processes": [job.state] if job.state in (Job.State.QUEUED, Job.State.RUNNING) else []}

    def delete(self, job: Job, *, actor: str) -> list[StoredFile]:
        """Delete a job that has ended, with the figures or the charts that it made."""
        from console.charts.plots import CHARTED, OFFERED, chart_path  # slow to import, as what draws and measures is
        from console.leaderboard.benchmark_boards import figures_path

        files = [figures_path(job)]
        params = job.params
        if job.task == MAKES_CHART:
            things = CHARTED[params["kind"]].filter(name=params["name"])
            subjects = OFFERED[params["kind"]]
            files += [chart_path(thing, subject, params["annotator"]) for thing in things for subject in subjects]
        for file in files:
            transaction.on_commit(partial(default_storage.delete, file))
        return super().delete(job, actor=actor)


def _remove_files(gallery: Gallery) -> None:
    from corpus.galleries.gallery_imports import files_of  # slow to import, as what reads Parquet is
    from mitl.search.gallery_embeddings import kept_embeddings

    for file in kept_embeddings(gallery) + files_of(gallery):
        remove_file(file)


THINGS: dict[str, Thing] = {
    "collections": Collections(),
    "batches": Batches(),
    "sources": Sources(),
    "annotators": Annotators(),
    "samples": Samples(),
    "tests": Tests(),
    "galleries": Galleries(),
    "retrievals": Retrievals(),
    "pools": Pools(),
    "rounds": Rounds(),
    "versions": Versions(),
    "jobs": Jobs(),
}
