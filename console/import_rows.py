"""Imports and match sources, as kinds of things: removing one undoes it."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import IntegrityError
from django.db.models import Exists, OuterRef, QuerySet, Value
from django.db.models.functions import Concat

from console.batch_dependants import dependants_of, lock, take_back
from console.collections.schemas import BatchAnswer, SourceLine
from console.things import Thing
from core.files.stored_files import StoredFile
from corpus.models import Batch
from mitl.models import Annotator


class Batches(Thing):
    rows = Batch.objects.select_related("collection")
    made_by = "import_collection, import_matches or import_judgments"
    answer = BatchAnswer
    columns = ("name", "collection", "brought", "file", "by", "created_at", "undone_at")
    removed = "undone"

    def needed_by(self, batch: Batch) -> Mapping[str, Iterable[Any]]:
        return dependants_of(batch)

    def lock(self, batch: Batch) -> None:
        lock(batch)

    def delete(self, batch: Batch, *, actor: str) -> list[StoredFile]:
        return take_back(batch, actor=actor)


def _standing() -> QuerySet[Batch]:
    return Batch.objects.standing().filter(kind=Batch.Kind.MATCHES)


class Sources(Thing):
    """Match sources by ``COLLECTION/SOURCE``; the row of each is its first import."""

    rows = (
        _standing()
        .exclude(
            Exists(
                _standing().filter(collection=OuterRef("collection"), source=OuterRef("source"), pk__lt=OuterRef("pk"))
            )
        )
        .annotate(place=Concat("collection__name", Value("/"), "source"))
        .select_related("collection")
    )
    made_by = "import_matches"
    answer = SourceLine
    columns = ("name", "first_import")
    key = "place"

    def needed_by(self, first: Batch) -> Mapping[str, Iterable[Any]]:
        return dependants_of(first)

    def lock(self, first: Batch) -> None:
        lock(first)

    def delete(self, first: Batch, *, actor: str) -> list[StoredFile]:
        return [file for batch in self.batches(first) for file in take_back(batch, actor=actor)]

    def batches(self, first: Batch) -> QuerySet[Batch]:
        return _standing().filter(collection=first.collection, source=first.source)

    def named_by(self, first: Batch) -> Mapping[str, Iterable[Any]]:
        return {"versions": dependants_of(first)["versions"]}

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
