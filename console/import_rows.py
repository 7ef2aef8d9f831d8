"""Imports and match sources, as kinds of things: what was made of what they brought, and taking them back where nothing
was."""

from collections.abc import Iterable
from typing import Any

from django.db import IntegrityError
from django.db.models import Exists, F, Min, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce, Concat
from ninja import Schema

from annotation.models import Assignment, ControlRuling, Decision, QualificationTest, TestItem, Worker
from annotation.work.judgments import answers_from
from console.collections.schemas import BatchAnswer, SourceLine
from console.things import Thing
from core import clock
from core.database.reference_indexes import indexed_references
from core.errors import CounterpartError
from core.files.stored_files import StoredFile
from corpus.models import Batch, Caption, Collection, Image, Match, Sample
from dataset.models import Aggregation, Case, Review
from hits.models import Item, Round, Seat
from mitl.models import Annotator

Dependants = dict[str, Iterable[Any]]


class Batches(Thing):
    rows = Batch.objects.select_related("collection")
    made_by = "import_collection, import_matches or import_judgments"
    answer: type[Schema] = BatchAnswer
    columns: tuple[str, ...] = ("name", "collection", "brought", "file", "by", "created_at", "undone_at")
    removed = "undone"

    def needed_by(self, batch: Batch) -> Dependants:
        """Return what was made of the rows of an import, by kind. Raises CounterpartError for one that was undone, or
        that only the removal of its collection takes back."""
        if batch.undone_at:
            raise CounterpartError(
                f"{batch} was undone already, by {batch.undone_by}: {batch.undone_at:%Y-%m-%d %H:%M}."
            )
        if batch.kind == Batch.Kind.MATCHES:
            return _on_matches(batch)
        if batch.kind == Batch.Kind.JUDGMENTS:
            return _on_judgments(batch)
        if batch.counts is None:
            raise CounterpartError(
                f"{batch} is all that was imported before batches were kept. Undo it with: remove collection "
                f"{batch.collection}."
            )
        return _on_rows(batch) | _on_pictures(batch)

    def lock(self, batch: Batch) -> None:
        """Make releases, rounds and imports that read the collection wait; in the order in which imports lock."""
        Round.objects.select_for_update(no_key=True, of=("self",)).filter(hits__assignments__batch=batch).first()
        Collection.objects.select_for_update().get(pk=batch.collection_id)

    def delete(self, batch: Batch, *, actor: str) -> list[StoredFile]:
        """Delete the rows that an import brought, and return the pictures' files.

        Rows are deleted as they are, without those that point to them: these would be dependants, and the database
        refuses.
        """
        collection = batch.collection
        pictured = collection.images.filter(picture_batch=batch)
        files = files_of_pictures(pictured)
        others = pictured.exclude(batch=batch)
        others.update(file="", sha256="", width=None, height=None, look="", picture_batch=None)
        if batch.kind == Batch.Kind.JUDGMENTS:
            _take_back_judgments(batch)
        brought = collection.captions.filter(batch=batch), collection.images.filter(batch=batch)
        with indexed_references(*([Caption, Image] if batch.kind == Batch.Kind.COLLECTION else [])):
            for rows in (_matches(batch), *brought):
                rows._raw_delete(rows.db)
        if batch.language:
            Collection.objects.filter(pk=collection.pk).update(language="")
        Batch.objects.filter(pk=batch.pk).update(undone_at=clock.now(), undone_by=actor)
        return unused_files(files)


def _standing() -> QuerySet[Batch]:
    return Batch.objects.standing().filter(kind=Batch.Kind.MATCHES)


class Sources(Batches):
    """Match sources by ``COLLECTION/SOURCE``; the row of each is its first import."""

    rows = (
        Batch.objects.filter(pk__in=_standing().values("collection", "source").annotate(Min("pk")).values("pk__min"))
        .annotate(place=Concat("collection__name", Value("/"), "source"))
        .select_related("collection")
    )
    made_by = "import_matches"
    answer = SourceLine
    columns = ("name", "first_import")
    key = "place"
    removed = "removed"

    def delete(self, first: Batch, *, actor: str) -> list[StoredFile]:
        return [file for batch in self.batches(first) for file in super(Sources, self).delete(batch, actor=actor)]

    def batches(self, first: Batch) -> QuerySet[Batch]:
        return _standing().filter(collection=first.collection, source=first.source)

    def named_by(self, first: Batch) -> Dependants:
        return {"versions": self.needed_by(first)["versions"]}

    def rename(self, first: Batch, name: str) -> None:
        from corpus.matches import check_source  # slow to import, as what reads tables is

        collection = first.collection
        check_source(collection, name)
        if collection.matches.filter(source=name).exists():
            raise IntegrityError(f"{collection} has a source {name}")
        rename_taught(name, collection=collection.name, matches=first.source)
        collection.pools.filter(beyond=first.source).update(beyond=name)
        collection.matches.filter(source=first.source).update(source=name)
        self.batches(first).update(source=name)


def rename_taught(name: str, **named: str) -> None:
    """Note the other name of what annotators were trained on: of the last of ``named``, their collection or matches."""
    for annotator in Annotator.objects.filter(**{f"trained_on__{key}": value for key, value in named.items()}):
        annotator.trained_on[list(named)[-1]] = name
        annotator.save(update_fields=["trained_on"])


def files_of_pictures(images: QuerySet[Image]) -> list[StoredFile]:
    """Return the stored pictures of images that have one."""
    return [StoredFile(*one) for one in images.exclude(file="").order_by().values_list("file", "sha256").distinct()]


def unused_files(files: list[StoredFile]) -> list[StoredFile]:
    """Return the pictures that no image has any more, whichever its collection."""
    from corpus.pictures.stored_pictures import used_pictures  # slow to import, as what reads pictures is

    used = used_pictures() if files else set()
    return [file for file in files if file.path not in used]


def round_of(batch: Batch) -> Round | None:
    """Return the round that judgments were imported into; None for other kinds."""
    return Round.objects.filter(hits__assignments__batch=batch).first()


def _matches(batch: Batch) -> QuerySet[Match]:
    """Return its matches: those of a source from before batches were kept have no batch."""
    mine = Q(batch=None, source=batch.source) if batch.counts is None else Q(batch=batch)
    return batch.collection.matches.filter(mine)


def _on_rows(batch: Batch) -> Dependants:
    collection = batch.collection
    images = collection.images.filter(batch=batch)
    captions = collection.captions.filter(batch=batch)
    either = Q(image__in=images) | Q(caption__in=captions)
    asks_images = Sample.images.through.objects.filter(sample=OuterRef("pk"), image__in=images)
    asks_captions = Sample.captions.through.objects.filter(sample=OuterRef("pk"), caption__in=captions)
    tested = TestItem.objects.filter(either, test=OuterRef("pk"))
    named: Dependants = {
        "samples": collection.samples.filter(Exists(asks_images) | Exists(asks_captions)),
        "tests": QualificationTest.objects.filter(Exists(tested), collection=collection),
        "reviews": Review.objects.filter(either).values_list("pk", flat=True),
        "open cases": Case.objects.filter(either).values_list("pk", flat=True),
        "later imports": _others(batch, Caption.objects.filter(image__in=images), Value("captions of no import"))
        | _others(batch, Match.objects.filter(either, collection=collection), F("source"))
        | _others(batch, images.exclude(picture_batch=None), Value(""), "picture_batch"),
    }
    if not images.gallery().exists() and not captions.gallery().exists():
        return named
    return named | {
        "searches": _searches(batch),
        "pools": collection.pools.filter(created_at__gte=batch.created_at),
        "rounds": _rounds_since(batch),
        "scored rankings": collection.runs.filter(created_at__gte=batch.created_at),
        "versions": collection.versions.filter(released_at__gte=batch.created_at),
    }


def _others(batch: Batch, rows: QuerySet[Any], otherwise: Any, field: str = "batch") -> set[str]:
    """Return the names of other imports that brought some of the rows; ``otherwise`` of rows of no import."""
    others = rows.exclude(**{field: batch}).order_by().annotate(by=Coalesce(f"{field}__name", otherwise))
    return set(others.values_list("by", flat=True).distinct())


def _searches(batch: Batch) -> list[str]:
    made = batch.collection.retrievals.filter(gallery=None, created_at__gte=batch.created_at)
    return [f"{one.pk} by {one.annotator}" for one in made.select_related("annotator")]


def _rounds_since(batch: Batch) -> QuerySet[Round]:
    """Return the rounds that were packed or added to since: their controls depend on all images, captions and matches
    that were known (``hits.controls.known_matches``)."""
    since = Q(created_at__gte=batch.created_at) | Q(top_ups__created_at__gte=batch.created_at)
    return Round.objects.filter(since, pool__collection=batch.collection).distinct()


def _on_pictures(batch: Batch) -> Dependants:
    images = batch.collection.images.filter(picture_batch=batch).exclude(batch=batch)
    if not images.exists():
        return {}
    shows = Item.shown.filter(Q(image__in=images) | Q(content__isnull=False), hit__round=OuterRef("pk"))
    published = Round.objects.filter(pool__collection=batch.collection, published_at__isnull=False)
    tested = TestItem.objects.filter(image__in=images, test=OuterRef("pk"))
    return {
        "searches": _searches(batch),
        "published rounds": published.filter(Exists(shows)),
        "tests": QualificationTest.objects.filter(Exists(tested), collection=batch.collection),
        "versions": batch.collection.versions.filter(released_at__gte=batch.created_at),
    }


def _on_matches(batch: Batch) -> Dependants:
    collection = batch.collection
    source = batch.source
    sealed = source in collection.sealed_sources
    taught = Annotator.objects.filter(trained_on__collection=collection.name, trained_on__matches=source)
    return {
        "versions": [one for one in collection.versions.all() if _merges(one.manifest, source)] if sealed else [],
        "rounds": _rounds_since(batch),
        "pools": collection.pools.filter(beyond=source, created_at__gte=batch.created_at),
        "annotators": taught,
    }


def _merges(manifest: dict[str, Any], source: str) -> bool:
    merged = manifest["policies"]["merge"].split(",")
    return source in {term.partition(">")[0].partition("<")[0].partition("=")[0] for term in merged}


def _on_judgments(batch: Batch) -> Dependants:
    round = round_of(batch)
    if round is None:
        return {}
    if round.state == "open":
        raise CounterpartError(f"Round {round} is open for workers. Close it first.")
    since = {"at__gte": batch.created_at}
    pair = {"image": OuterRef("image"), "caption": OuterRef("caption")}
    judged = answers_from(Assignment.objects.filter(batch=batch)).filter(**pair)
    return {
        "vote counts": Aggregation.objects.filter(round=round, **since),
        "versions": round.versions.filter(released_at__gte=batch.created_at),
        "reviews": Review.objects.filter(Exists(judged), **since).values_list("pk", flat=True),
        "decisions": Decision.objects.filter(assignment__batch=batch, by__isnull=False).values_list("pk", flat=True),
        "control rulings": ControlRuling.objects.filter(control__round=round, **since).values_list("pk", flat=True),
        "additions": round.top_ups.filter(created_at__gte=batch.created_at),
    }


def _take_back_judgments(batch: Batch) -> None:
    """Delete the answer sets; the seats that they filled are open again, and those that were added for them go."""
    sets = Assignment.objects.filter(batch=batch)
    workers = list(sets.values_list("worker", flat=True).distinct())
    channels = list(sets.values_list("channel", flat=True).distinct())
    filled = sets.filter(state=Assignment.State.ACCEPTED, seat__batch=None)
    Seat.objects.filter(pk__in=filled.values("seat")).update(state=Seat.State.OPEN)
    added = Seat.objects.filter(round=round_of(batch), batch=batch)
    for rows in (answers_from(sets), Decision.objects.filter(assignment__in=sets), sets, added):
        rows._raw_delete(rows.db)
    idle = Worker.objects.filter(pk__in=workers, assignments=None, exclusions=None, pauses=None, tests=None)
    idle.filter(identities__channel__in=channels).delete()
