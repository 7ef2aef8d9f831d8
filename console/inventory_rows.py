"""The kinds of things that the commands list, show and remove know: the line of a row in a list, its details, what
depends on it, and how it is deleted."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Count, QuerySet

from annotation.models import Assignment, Participant, QualificationTest
from annotation.money.ledger import owed_to_simulated
from annotation.work.standing import standing_of
from console.charts.measured_charts import chart_path
from console.charts.plots import CHARTED
from console.leaderboard.benchmark_boards import figures_path
from console.trust.round_parts import part_path
from core.files import StoredFile
from core.models import Job
from core.text import counted
from corpus.gallery_imports import files_of
from corpus.models import Collection, Gallery, Sample
from dataset.models import Review, Version
from dataset.provenance import unfinished
from evaluation.models import Run
from hits.models import Item, Round
from mitl.annotators import is_untrained
from mitl.models import Annotator, Pool, Retrieval
from mitl.search.gallery_embeddings import kept_embeddings
from mitl.search.store import delete_retrieval

Figures = dict[str, Any]
MAKES_CHART, COUNTS_PART = "console.tasks.chart", "console.tasks.round_part"


class Thing(ABC):
    """A kind of thing. ``key`` is the field that names a row, and ``made_by`` the command that makes one."""

    rows: QuerySet[Any]
    made_by: str
    key = "name"

    @abstractmethod
    def line(self, row: Any) -> Figures:
        """Return what a list says of a row."""

    @abstractmethod
    def details(self, row: Any) -> Figures:
        """Return what ``show`` adds to the line; it ``waits_for`` nothing unless it is told."""

    @abstractmethod
    def needed_by(self, row: Any) -> Mapping[str, Iterable[Any]]:
        """Return what depends on the row; with any, it cannot be removed."""

    def delete(self, row: Any) -> list[StoredFile]:
        """Delete the row; return the stored files that go with it."""
        row.delete()
        return []


class Collections(Thing):
    rows = Collection.objects.all()
    made_by = "import_collection"

    def line(self, collection: Collection) -> Figures:
        return {"images": collection.images.count(), "captions": collection.captions.count()}

    def details(self, collection: Collection) -> Figures:
        sources = collection.matches.order_by().values_list("source").annotate(Count("pk"))
        splits = collection.images.order_by().values_list("split").annotate(Count("pk"))
        lacking = collection.images.lacking_file().count()
        return {
            "matches": [{"source": source, "pairs": count} for source, count in sorted(sources)],
            "splits": [{"split": split or "none", "images": count} for split, count in sorted(splits)],
            **_names_of(
                samples=collection.samples.all(), pools=collection.pools.all(), versions=collection.versions.all()
            ),
            "waits_for": f"{counted(lacking, 'picture')} (import_collection --images)" if lacking else "nothing",
        }

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
    rows = Annotator.objects.all()
    made_by = "add_annotator"

    def line(self, annotator: Annotator) -> Figures:
        return {"kind": annotator.kind, "state": "untrained" if is_untrained(annotator) else "ready"}

    def details(self, annotator: Annotator) -> Figures:
        retrievals = annotator.retrievals.select_related("collection", "sample", "gallery", "cascade", "annotator")
        return {
            "options": [annotator.options] if annotator.options else [],
            "weights": annotator.checksum or "none",
            "trained_on": annotator.trained_on.get("collection", "elsewhere") if annotator.checkpoint else "nothing",
            "source": annotator.source or "unknown",
            "licence": annotator.licence or "unknown",
            "retrievals": [{"retrieval": one.pk, **Retrievals().line(one)} for one in retrievals],
            "waits_for": "its training (train_annotator)" if is_untrained(annotator) else "nothing",
        }

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
    rows = Sample.objects.select_related("collection")
    made_by = "sample_queries"

    def line(self, sample: Sample) -> Figures:
        counts = {"images": sample.images.count(), "captions": sample.captions.count()}
        return {"collection": sample.collection.name, **counts, "seed": sample.seed}

    def details(self, sample: Sample) -> Figures:
        return _names_of(pools=sample.pools.all(), versions=Version.objects.filter(sample=sample))

    def needed_by(self, sample: Sample) -> Mapping[str, Iterable[Any]]:
        searches = Retrieval.objects.filter(sample=sample)
        return {"pools": sample.pools.all(), "versions": Version.objects.filter(sample=sample), "searches": searches}


class Galleries(Thing):
    rows = Gallery.objects.select_related("collection")
    made_by = "import_gallery"

    def line(self, gallery: Gallery) -> Figures:
        return {"collection": gallery.collection.name, "images": gallery.n_images, "captions": gallery.n_captions}

    def details(self, gallery: Gallery) -> Figures:
        return {"digest": gallery.digest, "created": gallery.created_at.date()}

    def needed_by(self, gallery: Gallery) -> Mapping[str, Iterable[Any]]:
        return {"searches": gallery.retrievals.all()}

    def delete(self, gallery: Gallery) -> list[StoredFile]:
        """Delete a gallery with its parts and all embeddings. Items that became rows stay, with their pictures."""
        files = files_of(gallery) + kept_embeddings(gallery)
        gallery.delete()
        return files


class Retrievals(Thing):
    rows = Retrieval.objects.select_related("annotator", "collection", "sample", "gallery", "cascade")
    made_by = "retrieve"
    key = "pk"

    def line(self, retrieval: Retrieval) -> Figures:
        queries = retrieval.sample.name if retrieval.sample else "the whole gallery"
        searched = retrieval.gallery.name if retrieval.gallery else "its rows"
        how = retrieval.rerank or (f"cascade of {retrieval.cascade}" if retrieval.cascade else "plain")
        where = {"collection": retrieval.collection.name, "gallery": searched, "queries": queries}
        return {"annotator": retrieval.annotator.name, **where, "depth": retrieval.depth, "search": how}

    def details(self, retrieval: Retrieval) -> Figures:
        made = {"engine": retrieval.engine, "seconds": round(retrieval.seconds, 1), "sha256": retrieval.sha256}
        return {**made, **_names_of(pools=retrieval.pools.all())}

    def needed_by(self, retrieval: Retrieval) -> Mapping[str, Iterable[Any]]:
        return {"pools": retrieval.pools.all(), "scored rankings": Run.objects.filter(retrieval=retrieval)}

    def delete(self, retrieval: Retrieval) -> list[StoredFile]:
        return delete_retrieval(retrieval)


class Pools(Thing):
    rows = Pool.objects.select_related("collection", "sample")
    made_by = "the command pool"

    def line(self, pool: Pool) -> Figures:
        where = {"collection": pool.collection.name, "queries": pool.sample.name}
        return {**where, "pairs": pool.n_pairs, "proposals": pool.n_proposals}

    def details(self, pool: Pool) -> Figures:
        annotators = Annotator.objects.filter(retrievals__pools=pool).distinct()
        settings = {"top_k": pool.top_k, "control_depth": pool.control_depth, "seed": pool.seed}
        waits = "nothing" if pool.rounds.exists() else "a round (pack)"
        return {**settings, **_names_of(annotators=annotators, rounds=pool.rounds.all()), "waits_for": waits}

    def needed_by(self, pool: Pool) -> Mapping[str, Iterable[Any]]:
        return {"rounds": pool.rounds.all(), "filtered pools": Pool.objects.filter(filtered_from=pool)}


class Rounds(Thing):
    rows = Round.objects.all()
    made_by = "pack or plan_round"

    def line(self, round: Round) -> Figures:
        standing = standing_of(round)
        seats = {"answer_sets": standing.filled, "of": standing.wanted, "waiting_for_review": standing.waiting}
        return {"state": round.state, "channel": round.channel or "none", "hits": round.hits.count(), **seats}

    def details(self, round: Round) -> Figures:
        standing = standing_of(round)
        return {
            "pool": round.pool.name,
            "collection": round.pool.collection.name,
            "queries": round.pool.sample.name,
            "workers": standing.workers,
            "spent": standing.spent,
            "owed": standing.owed,
            "owed_to_simulated_workers": owed_to_simulated(round),
            "expected_cost": standing.expected_cost,
            "ceiling": standing.ceiling,
            **_names_of(versions=round.versions.all()),
            "waits_for": _what_a_round_waits_for(round),
        }

    def needed_by(self, round: Round) -> Mapping[str, Iterable[Any]]:
        return {
            "versions": round.versions.all(),
            "publications": [round.channel] if round.published_at else [],
            "assignments": Assignment.objects.filter(hit__round=round),
            "workers": Participant.objects.filter(round=round).values_list("worker__pseudonym", flat=True),
        }

    def delete(self, round: Round) -> list[StoredFile]:
        """Delete a draft, items before the controls that they ask."""
        Item.objects.filter(hit__round=round).delete()
        round.delete()
        return []


class Versions(Thing):
    rows = Version.objects.select_related("collection", "sample")
    made_by = "release"

    def line(self, version: Version) -> Figures:
        where = {"collection": version.collection.name, "queries": version.sample.name}
        return {**where, "released": version.released_at.date()}

    def details(self, version: Version) -> Figures:
        counts = {name: count for name, count in version.manifest.get("counts", {}).items() if isinstance(count, int)}
        models = sorted(set(version.scores.values_list("run__model", flat=True)))
        return {
            **counts,
            "folder": version.folder,
            "files": list(version.manifest.get("files", {})),
            **_names_of(rounds=version.rounds.all()),
            "scored": models,
            "waits_for": "nothing" if models else "scores (evaluate)",
        }

    def needed_by(self, version: Version) -> Mapping[str, Iterable[Any]]:
        return {"readers: a version never goes, and those who have it": [version.name]}


class Jobs(Thing):
    rows = Job.objects.all()
    made_by = "plan_round --background"
    key = "pk"

    def line(self, job: Job) -> Figures:
        progress = f"{job.done:,} of {job.total:,}" if job.total else f"{job.done:,}"
        return {"title": job.title, "state": job.state, "step": job.step or "none", "progress": progress}

    def details(self, job: Job) -> Figures:
        waits = {Job.State.QUEUED: "a worker of the queue", Job.State.RUNNING: "its end"}
        attempts = {"created": job.created_at, "finished": job.finished_at, "attempts": job.attempts}
        return {**attempts, "message": job.message or "none", "waits_for": waits.get(Job.State(job.state), "nothing")}

    def needed_by(self, job: Job) -> Mapping[str, Iterable[Any]]:
        return {"processes": [job.state] if job.state in (Job.State.QUEUED, Job.State.RUNNING) else []}

    def delete(self, job: Job) -> list[StoredFile]:
        """Delete a job that has ended, with the figures, the chart or the part of a page that it made."""
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


def _what_a_round_waits_for(round: Round) -> str:
    if round.state == "draft":
        return "its publication (publish)"
    left = unfinished(round)
    reviews = left.get("waiting_for_review", 0)
    answers = max(0, left.get("seats", 0) - reviews)  # work that waits for a review holds a seat
    counts = (counted(answers, "answer set"), answers), (counted(reviews, "review of work", "reviews of work"), reviews)
    waits = " and ".join(words for words, count in counts if count)
    if waits:
        return waits if round.state == "open" else f"nothing more: it was closed without {waits}"
    return "nothing" if round.versions.exists() else "a release (release)"


def _names_of(**rows: QuerySet[Any]) -> dict[str, list[str]]:
    return {what: [str(one) for one in some] for what, some in rows.items()}


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
