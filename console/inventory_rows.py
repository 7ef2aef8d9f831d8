"""What the commands list, show and remove know of a row of each kind: its line in a list, its details, what depends on
it, and how it is deleted."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Count, Model, QuerySet

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

Figures = dict[str, Any]
MAKES_CHART, COUNTS_PART = "console.tasks.chart", "console.tasks.round_part"


def collection_line(collection: Collection) -> Figures:
    return {"images": collection.images.count(), "captions": collection.captions.count()}


def collection_details(collection: Collection) -> Figures:
    sources = collection.matches.order_by().values_list("source").annotate(Count("pk"))
    splits = collection.images.order_by().values_list("split").annotate(Count("pk"))
    return {
        "matches": [{"source": source, "pairs": count} for source, count in sorted(sources)],
        "splits": [{"split": split or "none", "images": count} for split, count in sorted(splits)],
        **_names_of(samples=collection.samples.all(), pools=collection.pools.all(), versions=collection.versions.all()),
        "waits_for": _pictures_missing(collection),
    }


def _pictures_missing(collection: Collection) -> str:
    count = collection.images.lacking_file().count()
    return f"{counted(count, 'picture')} (import_collection --images)" if count else "nothing"


def collection_needed(collection: Collection) -> Mapping[str, Iterable[Any]]:
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


def delete_collection(collection: Collection) -> list[StoredFile]:
    pictures = collection.images.exclude(file="").order_by().values_list("file", "sha256").distinct()
    files = [StoredFile(*picture) for picture in pictures]
    collection.delete()
    return files


def annotator_line(annotator: Annotator) -> Figures:
    return {"kind": annotator.kind, "state": "untrained" if is_untrained(annotator) else "ready"}


def annotator_details(annotator: Annotator) -> Figures:
    retrievals = annotator.retrievals.select_related("collection", "sample", "gallery", "cascade", "annotator")
    return {
        "options": [annotator.options] if annotator.options else [],
        "weights": annotator.checksum or "none",
        "trained_on": annotator.trained_on.get("collection", "elsewhere") if annotator.checkpoint else "nothing",
        "source": annotator.source or "unknown",
        "licence": annotator.licence or "unknown",
        "retrievals": [{"retrieval": one.pk, **retrieval_line(one)} for one in retrievals],
        "waits_for": "its training (train_annotator)" if is_untrained(annotator) else "nothing",
    }


def annotator_needed(annotator: Annotator) -> Mapping[str, Iterable[Any]]:
    cascades = Retrieval.objects.filter(cascade=annotator).exclude(annotator=annotator)
    return {
        "pools": Pool.objects.filter(retrievals__annotator=annotator).distinct(),
        "searches as a cascade": cascades,
        "scored rankings": Run.objects.filter(retrieval__annotator=annotator),
    }


def delete_annotator(annotator: Annotator) -> list[StoredFile]:
    files = [one.stored for one in annotator.retrievals.all()]
    if annotator.checkpoint and not Annotator.objects.filter(checkpoint=annotator.checkpoint).exclude(pk=annotator.pk):
        files.append(StoredFile(annotator.checkpoint, annotator.checksum))
    annotator.retrievals.all().delete()
    annotator.delete()
    return files


def sample_line(sample: Sample) -> Figures:
    counts = {"images": sample.images.count(), "captions": sample.captions.count()}
    return {"collection": sample.collection.name, **counts, "seed": sample.seed}


def sample_details(sample: Sample) -> Figures:
    return _names_of(pools=sample.pools.all(), versions=Version.objects.filter(sample=sample)) | {
        "waits_for": "nothing"
    }


def sample_needed(sample: Sample) -> Mapping[str, Iterable[Any]]:
    searches = Retrieval.objects.filter(sample=sample)
    return {"pools": sample.pools.all(), "versions": Version.objects.filter(sample=sample), "searches": searches}


def gallery_line(gallery: Gallery) -> Figures:
    return {"collection": gallery.collection.name, "images": gallery.n_images, "captions": gallery.n_captions}


def gallery_details(gallery: Gallery) -> Figures:
    return {"digest": gallery.digest, "created": gallery.created_at.date(), "waits_for": "nothing"}


def gallery_needed(gallery: Gallery) -> Mapping[str, Iterable[Any]]:
    return {"searches": gallery.retrievals.all()}


def delete_gallery(gallery: Gallery) -> list[StoredFile]:
    """Delete a gallery with its parts and all embeddings. Items that became rows stay, with their pictures."""
    files = files_of(gallery) + kept_embeddings(gallery)
    gallery.delete()
    return files


def pool_line(pool: Pool) -> Figures:
    where = {"collection": pool.collection.name, "queries": pool.sample.name}
    return {**where, "pairs": pool.n_pairs, "proposals": pool.n_proposals}


def pool_details(pool: Pool) -> Figures:
    annotators = Annotator.objects.filter(retrievals__pools=pool).distinct()
    settings = {"top_k": pool.top_k, "control_depth": pool.control_depth, "seed": pool.seed}
    waits = "nothing" if pool.rounds.exists() else "a round (pack)"
    return {**settings, **_names_of(annotators=annotators, rounds=pool.rounds.all()), "waits_for": waits}


def pool_needed(pool: Pool) -> Mapping[str, Iterable[Any]]:
    return {"rounds": pool.rounds.all(), "filtered pools": Pool.objects.filter(filtered_from=pool)}


def round_line(round: Round) -> Figures:
    standing = standing_of(round)
    seats = {"answer_sets": standing.filled, "of": standing.wanted, "waiting_for_review": standing.waiting}
    return {"state": round.state, "channel": round.channel or "none", "hits": round.hits.count(), **seats}


def round_details(round: Round) -> Figures:
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


def round_needed(round: Round) -> Mapping[str, Iterable[Any]]:
    return {
        "versions": round.versions.all(),
        "publications": [round.channel] if round.published_at else [],
        "assignments": Assignment.objects.filter(hit__round=round),
        "workers": Participant.objects.filter(round=round).values_list("worker__pseudonym", flat=True),
    }


def delete_round(round: Round) -> list[StoredFile]:
    """Delete a draft, items before the controls that they ask."""
    Item.objects.filter(hit__round=round).delete()
    round.delete()
    return []


def version_line(version: Version) -> Figures:
    where = {"collection": version.collection.name, "queries": version.sample.name}
    return {**where, "released": version.released_at.date()}


def version_details(version: Version) -> Figures:
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


def version_needed(version: Version) -> Mapping[str, Iterable[Any]]:
    return {"readers: a version never goes, and those who have it": [version.name]}


def job_line(job: Job) -> Figures:
    progress = f"{job.done:,} of {job.total:,}" if job.total else f"{job.done:,}"
    return {"title": job.title, "state": job.state, "step": job.step or "none", "progress": progress}


def job_details(job: Job) -> Figures:
    waits = {Job.State.QUEUED: "a worker of the queue", Job.State.RUNNING: "its end"}
    attempts = {"created": job.created_at, "finished": job.finished_at, "attempts": job.attempts}
    return {**attempts, "message": job.message or "none", "waits_for": waits.get(Job.State(job.state), "nothing")}


def job_needed(job: Job) -> Mapping[str, Iterable[Any]]:
    return {"processes": [job.state] if job.state in (Job.State.QUEUED, Job.State.RUNNING) else []}


def delete_job(job: Job) -> list[StoredFile]:
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


def retrieval_line(retrieval: Retrieval) -> Figures:
    queries = retrieval.sample.name if retrieval.sample else "the whole gallery"
    searched = retrieval.gallery.name if retrieval.gallery else "its rows"
    how = retrieval.rerank or (f"cascade of {retrieval.cascade}" if retrieval.cascade else "plain")
    where = {"collection": retrieval.collection.name, "gallery": searched, "queries": queries}
    return {"annotator": retrieval.annotator.name, **where, "depth": retrieval.depth, "search": how}


def retrieval_details(retrieval: Retrieval) -> Figures:
    made = {"engine": retrieval.engine, "seconds": round(retrieval.seconds, 1), "sha256": retrieval.sha256}
    return {**made, **_names_of(pools=retrieval.pools.all()), "waits_for": "nothing"}


def retrieval_needed(retrieval: Retrieval) -> Mapping[str, Iterable[Any]]:
    return {"pools": retrieval.pools.all(), "scored rankings": Run.objects.filter(retrieval=retrieval)}


def delete_row(row: Model) -> list[StoredFile]:
    row.delete()
    return []


def _names_of(**rows: QuerySet[Any]) -> dict[str, list[str]]:
    return {what: [str(one) for one in some] for what, some in rows.items()}
